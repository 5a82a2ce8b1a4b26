package findings

import (
	"fmt"
	"math"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// small says whether small packets, all but those of each protocol's largest length,
// are faster direct than deferred, and what the counters have to say of it.
func (l *lengths) small() string {
	largest := map[spec.Protocol]int{}
	for _, t := range l.latency {
		p := t.Kind().Protocol
		largest[p] = max(largest[p], t.RequestSize())
	}
	count := map[compare.Verdict]int{}
	n := 0
	var first *spec.Test
	for i, t := range l.latency {
		if t.RequestSize() == largest[t.Kind().Protocol] {
			continue
		}
		n++
		count[verdictOf(l.change(direct, t, local(result.RTTP50)))]++
		if first == nil {
			first = &l.latency[i]
		}
	}
	if n == 0 {
		return "Small packets direct against deferred: not known, since one length was run."
	}
	text := "Small packets direct against deferred: "
	of := fmt.Sprintf("of %s", unit.Count(n, "smaller length"))
	switch {
	case count[compare.Better] == n:
		text += fmt.Sprintf("faster, as reported, at all %d smaller lengths", n)
	case count[compare.Worse] > 0 && count[compare.Better] == 0:
		text += fmt.Sprintf("the contrary of what was reported, slower at %d %s", count[compare.Worse], of)
	case count[compare.Better] > 0:
		text += fmt.Sprintf("faster at %d %s", count[compare.Better], of)
		if count[compare.Worse] > 0 {
			text += fmt.Sprintf(", slower at %d", count[compare.Worse])
		}
	case count[compare.Same] == n:
		text += "no difference that matters"
	default:
		text += fmt.Sprintf("not sure at any %s", of)
	}
	if why := l.counters(*first); why != "" {
		text += ". By the counters, " + lengthOf(*first) + ": " + why
	}
	return text + "."
}

// explaining are the figures that say what a context does for each packet.
var explaining = []struct {
	of   result.Taken
	name string
}{
	{remote(result.InterruptsPerPacket), "interrupts per packet"},
	{remote(result.SoftirqsPerPacket), "softirqs per packet"},
	{remote(result.ContextSwitchesPerOp), "context switches per round trip"},
	{remote(result.CPUPerOp), "CPU"},
}

// counters are those figures of direct and deferred, at the remote end.
func (l *lengths) counters(test spec.Test) string {
	var parts []string
	for _, e := range explaining {
		var v [2]float64
		for i, level := range []string{direct, l.levels[0]} {
			v[i] = l.in.median(l.in.averaged(test, l.in.having(spec.Variant{receive: level}), e.of)).Est
		}
		d, ok := result.DefinitionOf(test, e.of.Name, e.of.End)
		if !ok || !finite(v[0]) || !finite(v[1]) {
			continue
		}
		div, label := unit.Scale(d.Unit, v[0], v[1])
		if d.Unit == unit.PerPacket || d.Unit == unit.PerOp {
			label = ""
		}
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s against %s %s", e.name, unit.FormatIn(v[0], div), unit.FormatIn(v[1], div), label)))
	}
	return strings.Join(parts, ", ")
}

// smallerPackets says whether TCP's throughput falls with direct receive since more
// packets come with fewer bytes each.
func (l *lengths) smallerPackets() []string {
	var so, not []string
	for _, test := range l.streams {
		if !tcpStream(test) {
			continue
		}
		goodput := l.change(direct, test, remote(result.Goodput))
		packets := l.change(direct, test, remote(result.Packets))
		bytes := l.change(direct, test, remote(result.BytesPerPacket))
		if !known(goodput) {
			continue
		}
		text := fmt.Sprintf("%d B: goodput %s (%s)", test.RequestSize(), estimate(goodput), verdictOf(goodput))
		if !known(packets) || !known(bytes) {
			not = append(not, text+", packets not counted")
			continue
		}
		text += fmt.Sprintf(", packets/s %s, bytes per packet %s", estimate(packets), estimate(bytes))
		if verdictOf(goodput) == compare.Worse && surely(packets, 1) && surely(bytes, -1) {
			so = append(so, text)
		} else {
			not = append(not, text)
		}
	}
	var all []string
	if len(so) > 0 {
		all = append(all, fmt.Sprintf("TCP loses throughput as reported, by more packets of fewer bytes each, for which lower latency leaves less time: %s.", strings.Join(so, "; ")))
	}
	if len(not) > 0 {
		all = append(all, fmt.Sprintf("TCP does not lose throughput to smaller packets: %s.", strings.Join(not, "; ")))
	}
	return all
}

// surely says that a figure goes up (sign 1) or down (-1) by its interval.
func surely(c *compare.Comparison, sign float64) bool {
	_, lo, hi := c.Shift()
	return math.Min(sign*lo, sign*hi) > 0
}

// unclassified is the code of the warning that packets were not looked at by control
// group, and why.
const unclassified = "unclassified"

// classifiedWithin is the share of TCP's packets that need not be found in their
// control group: those of a connection that its process has closed already
// (TIME_WAIT), which has no full socket and so no group.
const classifiedWithin = 0.01

// classified checks, for each context, that the packets of the test's sockets were
// found in their control group.
func (l *lengths) classified() []compare.Check {
	var all []compare.Check
	for _, level := range l.levels {
		c := compare.Check{Name: "control group, " + level, Unit: "packets"}
		var seen, missing [2]int64 // of UDP and of TCP
		why := ""
		for _, test := range l.in.Plan.Tests {
			i := 0
			if test.Kind().Protocol == spec.TCP {
				i = 1
			}
			for _, t := range l.in.made(test, l.in.having(spec.Variant{receive: level})) {
				for _, end := range []string{"a.", "b."} {
					counted := t.Path.Counts[end+"classified_all"]
					seen[i] += counted
					missing[i] += counted - t.Path.Counts[end+"classified_cgroup"]
				}
				if w := warned(t.AllWarnings(), unclassified); w != "" {
					why = w
				}
			}
		}
		total := seen[0] + seen[1]
		switch {
		case total > 0:
			v := float64(total - missing[0] - missing[1])
			c.Wanted, c.Found, c.Within = float64(total), &v, math.Ceil(classifiedWithin*float64(seen[1]))
			c.Pass = missing[0] == 0 && missing[1] >= 0 && float64(missing[1]) <= c.Within
			c.Text = fmt.Sprintf("UDP %d of %d, TCP %d of %d", seen[0]-missing[0], seen[0], seen[1]-missing[1], seen[1])
		case why != "":
			c.Text = why
		default:
			if c.Text = warned(l.in.Report.Warnings, unclassified); c.Text == "" {
				c.Text = "packets were not looked at by control group"
			}
		}
		all = append(all, c)
	}
	return all
}

// warned is the text of the first warning with a code; empty for none.
func warned(all []result.Warning, code string) string {
	for _, w := range all {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}
