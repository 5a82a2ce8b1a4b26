package findings

import (
	"fmt"
	"math"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// small says whether small packets, all but those of each protocol's largest length,
// are faster direct than deferred, and what the counters have to say of it. Each
// length by itself is judged in the report's family; together they are one figure a
// protocol, whose interval is told.
func (l *lengths) small() string {
	largest := map[spec.Protocol]int{}
	for _, t := range l.latency {
		p := t.Kind().Protocol
		largest[p] = max(largest[p], t.RequestSize())
	}
	smaller := map[spec.Protocol][]spec.Test{}
	for _, t := range l.latency {
		if p := t.Kind().Protocol; t.RequestSize() != largest[p] {
			smaller[p] = append(smaller[p], t)
		}
	}
	var said, better, worse, alike, open []string
	var first *spec.Test
	for _, p := range []spec.Protocol{spec.UDP, spec.TCP} {
		if len(smaller[p]) == 0 {
			continue
		}
		if first == nil {
			first = &smaller[p][0]
		}
		d := l.pooled(direct, smaller[p], local(result.RTTP50))
		name := strings.ToUpper(string(p))
		said = append(said, name+" latency "+percents(d))
		switch margin := 100 * l.in.Plan.Margin; {
		case !l.in.settled(d):
			open = append(open, name)
		case d.Lo > -margin && d.Hi < margin:
			alike = append(alike, name)
		case d.Hi < 0:
			better = append(better, name)
		case d.Lo > 0:
			worse = append(worse, name)
		default:
			open = append(open, name)
		}
	}
	if len(said) == 0 {
		return "Small packets direct against deferred: not known, since one length was run."
	}
	text := "Small packets direct against deferred, all smaller lengths together: " + strings.Join(said, ", ") + ": "
	switch {
	case len(alike) == len(said):
		text += "no difference that matters"
	case len(better) == len(said):
		text += "faster, as reported"
	default:
		var parts []string
		for _, p := range []struct {
			what  string
			names []string
		}{{"faster for %s, as reported", better}, {"slower for %s, the contrary of what was reported", worse},
			{"no difference that matters for %s", alike}, {"not sure for %s", open}} {
			if len(p.names) > 0 {
				parts = append(parts, fmt.Sprintf(p.what, strings.Join(p.names, " and ")))
			}
		}
		text += strings.Join(parts, "; ")
	}
	if why := l.counters(*first); why != "" {
		text += ". By the counters, " + lengthOf(*first) + ": " + why
	}
	return text + "."
}

// pooled is the change of a figure from the baseline to a level over several tests
// together: the mean of their logarithms' differences in each block.
func (l *lengths) pooled(level string, tests []spec.Test, of result.Taken) stats.Interval {
	all := make([][]float64, len(tests))
	for i, t := range tests {
		all[i] = logRatio(l.in.averaged(t, l.in.having(spec.Variant{receive: l.levels[0]}), of),
			l.in.averaged(t, l.in.having(spec.Variant{receive: level}), of))
	}
	return l.in.changeOf(mean(all...))
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
	var so, not, unknown, unsure []string
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
		if v := verdictOf(goodput); v == compare.Unsure || v == compare.Same {
			unsure = append(unsure, fmt.Sprintf("%s at %d B", estimate(goodput), test.RequestSize()))
			continue
		}
		text := fmt.Sprintf("%d B: goodput %s (%s)", test.RequestSize(), estimate(goodput), verdictOf(goodput))
		if !known(packets) || !known(bytes) {
			unknown = append(unknown, text)
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
		all = append(all, fmt.Sprintf("TCP loses throughput as reported, in more packets of fewer bytes each: %s.", strings.Join(so, "; ")))
	}
	if len(not) > 0 {
		all = append(all, fmt.Sprintf("TCP's throughput differs, and not by more packets of fewer bytes for sure: %s.", strings.Join(not, "; ")))
	}
	if len(unknown) > 0 {
		all = append(all, fmt.Sprintf("TCP's throughput differs, and packets were not counted: %s.", strings.Join(unknown, "; ")))
	}
	switch {
	case len(unsure) > 0 && len(so)+len(not)+len(unknown) == 0:
		all = append(all, fmt.Sprintf("TCP's throughput differs for sure at no length: %s.", strings.Join(unsure, ", ")))
	case len(unsure) > 0:
		all = append(all, fmt.Sprintf("TCP's throughput does not differ for sure at the rest: %s.", strings.Join(unsure, ", ")))
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
// control group, since they have no full socket and so no group: the last of a
// handshake, and those of a connection that its process has closed already.
const classifiedWithin = 0.01

// classified checks, for each context, that the packets of the test's sockets were
// found in their control group.
func (l *lengths) classified() []compare.Check {
	var all []compare.Check
	for _, level := range l.levels {
		c := compare.Check{Name: "control group, " + level, Unit: "packets"}
		var seen, missing [2]int64 // of UDP and of TCP
		var readings int64         // each can come between the two counts of one packet
		why := ""
		for _, test := range l.in.Plan.Tests {
			i := 0
			if test.Kind().Protocol == spec.TCP {
				i = 1
			}
			for _, t := range l.in.made(test, l.in.having(spec.Variant{receive: level})) {
				for _, end := range []string{"a.", "b."} {
					readings++
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
			ofTCP := int64(math.Ceil(classifiedWithin * float64(seen[1])))
			c.Wanted, c.Found, c.Within = float64(total), &v, float64(ofTCP+readings)
			c.Pass = max(missing[0], -missing[0]) <= readings && -missing[1] <= readings && missing[1] <= ofTCP+readings
			var by []string
			for i, p := range []string{"UDP", "TCP"} {
				if seen[i] > 0 {
					by = append(by, fmt.Sprintf("%s %d of %d", p, seen[i]-missing[i], seen[i]))
				}
			}
			c.Text = strings.Join(by, ", ")
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
