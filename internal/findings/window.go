package findings

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// Window tells where TCP's throughput follows the round trip, since a window of data
// is all that can be under way, and where it does not: the product of bandwidth and
// delay against the window. It says, too, whether TCP lost more than UDP did. Where no
// stream of TCP changed and no round trip either, there is nothing to tell.
func Window(in *Input) {
	if !in.usable() {
		return
	}
	tests := in.oneWayTCP()
	if len(tests) == 0 {
		return
	}
	told := false
	for _, p := range in.pairs() {
		for i, test := range tests {
			c := in.comparison(p, test, goodputOf(test))
			if c == nil || !judged(c) {
				continue
			}
			text := in.followed(p, test, c, i == 0)
			in.found(text)
			told = told || text != "" || c.Verdict != compare.Same
		}
		in.found(in.tcpAgainstUDP(p))
	}
	if told {
		in.Report.Sections = append(in.Report.Sections, in.windowSection(tests))
	}
}

// oneWayTCP are the plan's TCP streams that go one way, as fast as they can.
func (in *Input) oneWayTCP() []spec.Test {
	return in.testsOf(func(t spec.Test) bool {
		k := t.Kind()
		return k.Protocol == spec.TCP && (k.Pattern == spec.Stream || k.Pattern == spec.Reverse) && !t.OpenLoop()
	})
}

// followed is what there is to say of a stream by the comparison of its goodput:
// whether that follows the round trip, or did not suffer from a longer one; empty for
// nothing. lead is the first of its kind, of which more is told.
func (in *Input) followed(p pair, test spec.Test, c *compare.Comparison, lead bool) string {
	a, b := in.carriedBy(test, p.a), in.carriedBy(test, p.b)
	fast, slow, slowName, fastName := &a, &b, p.level, p.baseline
	if b.reached.Est > a.reached.Est {
		fast, slow, slowName, fastName = &b, &a, p.baseline, p.level
	}
	fact := fmt.Sprintf("%s: %s goodput %s", in.title(p), testName(c), c.Change(1))
	if c.Verdict != compare.Same && slow.cannot(fast) && slow.alone.Lo > fast.alone.Hi {
		return fact + " " + slow.follows(fast, slowName, fastName)
	}
	longer, text := in.longer(p)
	if !lead || !longer || !b.known() || !finite(b.alone.Est) {
		return ""
	}
	room := b.window.Est / product(b.reached.Est, b.alone.Est)
	switch {
	case room*near < 1:
		return "" // the window may play a part
	case c.Verdict == compare.Worse:
		fact += ", but not for want of a window: "
	default:
		fact += " though " + text + ": latency does not hold it: "
	}
	fact += fmt.Sprintf("the product of bandwidth and delay is %s under %s, and %s may be under way",
		unit.Format(product(b.reached.Est, b.alone.Est), unit.Bytes), p.level, unit.Format(b.window.Est, unit.Bytes))
	if beside := in.costsOf(p, test); len(beside) > 0 {
		fact += "; " + strings.Join(beside, ", ")
	}
	return fact + "."
}

// cannot says that the window is surely too small for what the other side reached,
// over the round trip under load and over the path's own alike.
func (c *carried) cannot(other *carried) bool {
	return c.known() && other.known() && c.most.Hi < other.reached.Lo && most(c.window.Hi, c.alone.Lo) < other.reached.Lo
}

// follows ends a sentence about a stream that its window keeps from what the other
// side reached.
func (c *carried) follows(other *carried, name, otherName string) string {
	text := fmt.Sprintf("follows the round trip: under %s %s under way over %s can't pass %s, and %s was reached",
		name, unit.Format(c.window.Est, unit.Bytes), unit.Format(c.rtt.Est, unit.Nanoseconds),
		unit.Format(c.most.Est, unit.BitsPerSecond), unit.Format(c.reached.Est, unit.BitsPerSecond))
	if !c.full() {
		text += ", so something else holds it below that"
	}
	text += fmt.Sprintf("; %s (%s) is below the product of bandwidth and delay (%s at the %s of %s)",
		spelled[c.by], unit.Format(c.window.Est, unit.Bytes), unit.Format(product(other.reached.Est, c.rtt.Est), unit.Bytes),
		unit.Format(other.reached.Est, unit.BitsPerSecond), otherName)
	if kept := c.kept(); kept != "" {
		text += "; " + kept
	}
	return text + "."
}

// longer says whether round trips surely rose, and by how much.
func (in *Input) longer(p pair) (bool, string) {
	test, ok := in.shortTest()
	if !ok {
		return false, ""
	}
	c := in.comparison(p, test, rttP50)
	if c == nil || c.Verdict != compare.Worse {
		return false, ""
	}
	return true, fmt.Sprintf("%s p50 rose %s", testName(c), c.Change(1))
}

// costsOf is what else surely changed of a stream: how many frames the wire found at
// each wake-up, and what a byte cost.
func (in *Input) costsOf(p pair, test spec.Test) []string {
	var parts []string
	frames := func(variants []spec.Variant) []float64 {
		var all [][]float64
		for _, v := range variants {
			all = append(all, in.each(test, v, framesPerWakeup))
		}
		return mean(all...)
	}
	a, b := frames(p.a), frames(p.b)
	if d := in.change(a, b); in.settled(d) && (d.Lo > 0 || d.Hi < 0) {
		parts = append(parts, fmt.Sprintf("the wire found %s frames at each wake-up and finds %s",
			unit.FormatIn(stats.Median(a), 1), unit.FormatIn(stats.Median(b), 1)))
	}
	for _, m := range []struct{ metric, end, words string }{
		{result.BytesPerPacket, goodputOf(test).End, "bytes per packet"},
		{result.CPUPerByte, result.Local, "CPU per byte at the local end"},
		{result.CPUPerByte, result.Remote, "CPU per byte at the remote end"},
	} {
		if c := in.comparison(p, test, result.Taken{Name: m.metric, End: m.end}); c != nil && (c.Verdict == compare.Better || c.Verdict == compare.Worse) {
			parts = append(parts, m.words+" "+c.Change(1))
		}
	}
	return parts
}

// framesPerWakeup is how many frames the wire's thread read for each time that it
// slept, in the stream's direction; NaN without a wire.
func framesPerWakeup(t *result.Trial) float64 {
	direction := "wire.a_to_b."
	if t.Test.Kind().Pattern == spec.Reverse {
		direction = "wire.b_to_a."
	}
	return ratio(float64(t.Path.Counts[direction+"frames_in"]), float64(t.Path.Counts[direction+"wakeups"]))
}

// tcpAgainstUDP says whether TCP's goodput lost more than UDP's did; empty where the
// plan has not both as fast as they can go.
func (in *Input) tcpAgainstUDP(p pair) string {
	tcp := in.testsOf(func(t spec.Test) bool { return t.Name == "tcp_stream" && !t.OpenLoop() })
	udp := in.testsOf(func(t spec.Test) bool { return t.Name == "udp_stream" && !t.OpenLoop() && t.Params.Pacing == 0 })
	if len(tcp) == 0 || len(udp) == 0 {
		return ""
	}
	t, u := in.comparison(p, tcp[0], goodputOf(tcp[0])), in.comparison(p, udp[0], goodputOf(udp[0]))
	if t == nil || u == nil || !judged(t) || !judged(u) || u.Held != nil || t.Held != nil {
		return ""
	}
	shift := func(test spec.Test) []float64 {
		return logRatio(in.averaged(test, p.a, goodputOf(test)), in.averaged(test, p.b, goodputOf(test)))
	}
	d := in.difference(shift(udp[0]), shift(tcp[0]))
	said := ""
	longer, _ := in.longer(p)
	switch {
	case t.Verdict != compare.Worse && u.Verdict != compare.Worse && !longer:
		return ""
	case t.Verdict != compare.Worse && u.Verdict != compare.Worse:
		said = "neither TCP nor UDP suffers from longer round trips"
	case d.Hi < 0 && t.Verdict == compare.Worse:
		said = "TCP suffers more than UDP"
	case d.Lo > 0 && u.Verdict == compare.Worse:
		said = "UDP suffers more than TCP"
	default:
		said = "TCP and UDP can't be told apart"
	}
	return fmt.Sprintf("%s: %s: %s goodput %s, %s %s.", in.title(p), said, testName(t), t.Change(1), testName(u), u.Change(1))
}

// windowSection is the table of what was under way.
func (in *Input) windowSection(tests []spec.Test) compare.Section {
	s := compare.Section{
		Name: "window", Title: "TCP: data under way against the round trip",
		Columns: []compare.Column{
			{Name: "window", Unit: unit.Bytes}, {Name: "set by"}, {Name: "rtt", Unit: unit.Nanoseconds},
			{Name: "window/rtt", Unit: unit.BitsPerSecond}, {Name: "reached", Unit: unit.BitsPerSecond},
			{Name: "product", Unit: unit.Bytes}, {Name: "held by"},
		},
	}
	var used []string
	for _, test := range tests {
		for _, v := range in.Plan.Variants() {
			c := in.carriedBy(test, []spec.Variant{v})
			if !finite(c.reached.Est) {
				continue // nothing was run
			}
			label := in.name(v)
			if len(tests) > 1 {
				label = strings.TrimSpace(test.Short() + " " + label)
			}
			by := words(c.by)
			if !finite(c.window.Est) {
				by = none(c.why)
			} else if !slices.Contains(used, c.by) {
				used = append(used, c.by)
			}
			s.Rows = append(s.Rows, compare.Line{Label: label, Cells: []compare.Datum{
				ranged(c.window, c.why), by, ranged(c.rtt, c.why), ranged(c.most, c.why), ranged(c.reached, ""),
				number(product(c.reached.Est, c.alone.Est), "no round trip without load"), words(c.heldBy()),
			}})
		}
	}
	for _, by := range used {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %s.", by, spelled[by]))
	}
	s.Notes = append(s.Notes,
		"rtt: the sender's smoothed round trip under load (TCP_INFO). product: goodput times the round trip without load.",
		fmt.Sprintf("held by window: at least %.0f%% of what the window allows, without any queue too; path: what is under way waits in queues; other: the window had room.", 100*near))
	return s
}
