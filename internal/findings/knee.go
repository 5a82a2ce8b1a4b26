package findings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// mitigation is the factor whose levels are how much the wire mitigates: "off", and
// "4/50us" for frames and microseconds.
const mitigation = "mitigation"

// unmitigated is the level in which no frame waits for another.
const unmitigated = "off"

// sweep is what an experiment that varies that has.
type sweep struct {
	in     *Input
	levels []string // the baseline first
	pairs  []pair
	rr     *spec.Test
	cost   cost
}

// cost is the figure by which CPU time is told: of a stream, at both ends together,
// since a handler may be bound to either's CPU.
type cost struct {
	test spec.Test
	of   []result.Taken
	name string
}

// Knee tells latency against interrupts against CPU time by how much the wire
// mitigates, and from where on there is more to lose than to gain.
func Knee(in *Input) {
	if !in.usable() {
		return
	}
	f := in.factor(mitigation)
	if f == nil {
		return
	}
	s := sweep{in: in, levels: []string{in.base(f)}, pairs: in.pairs()}
	for _, level := range f.Levels {
		if level != s.levels[0] {
			s.levels = append(s.levels, level)
		}
	}
	if tests := in.testsOf(udpRR); len(tests) > 0 {
		s.rr = &tests[max(0, slices.IndexFunc(tests, lone))]
	}
	s.cost = s.costFigure()
	in.Report.Sections = append(in.Report.Sections, s.table(), s.changeTable())
	in.Report.Findings = append(in.Report.Findings, s.knee()...)
	in.Report.Checks = append(in.Report.Checks, s.waits()...)
}

// costs are the figures of CPU time in the order in which they are preferred.
var costs = []cost{
	{of: bothEnds(result.CPUSoakPerByte), name: "CPU per byte (soak)"},
	{of: bothEnds(result.CPUPerByte), name: "CPU per byte"},
}

func bothEnds(metric string) []result.Taken { return []result.Taken{local(metric), remote(metric)} }

// costFigure is the first figure of CPU time that the trials have, of datagrams
// rather than of TCP; with an empty name where there is none.
func (s *sweep) costFigure() cost {
	for _, c := range costs {
		for _, kind := range []func(spec.Test) bool{udpStream, tcpStream} {
			for _, test := range s.in.testsOf(kind) {
				if c.test = test; finite(s.figure(s.levels[0], test, c.of...)) {
					return c
				}
			}
		}
	}
	return cost{}
}

// figure is the median of a level's figures over blocks, of several their sum.
func (s *sweep) figure(level string, test spec.Test, of ...result.Taken) float64 {
	return s.in.median(s.blocks(level, test, of)).Est
}

// blocks are those figures by block.
func (s *sweep) blocks(level string, test spec.Test, of []result.Taken) []float64 {
	sum := make([]float64, max(0, s.in.Plan.Blocks))
	for _, t := range of {
		for b, v := range s.in.averaged(test, s.in.having(spec.Variant{mitigation: level}), t) {
			sum[b] += v
		}
	}
	return sum
}

// change is the comparison of a level with the baseline; nil for none.
func (s *sweep) change(level string, test spec.Test, of result.Taken) *compare.Comparison {
	p := against(s.pairs, mitigation, level, "")
	if p == nil {
		return nil
	}
	return s.in.comparison(*p, test, of)
}

// swept are the figures of the table, each of the first test of a kind.
var swept = []struct {
	column  compare.Column
	kind    func(spec.Test) bool
	of      []result.Taken
	changes bool
}{
	{compare.Column{Name: "rtt p50", Unit: unit.Nanoseconds}, udpRR, []result.Taken{local(result.RTTP50)}, true},
	{compare.Column{Name: "rtt p99", Unit: unit.Nanoseconds}, udpRR, []result.Taken{local(result.RTTP99)}, false},
	{compare.Column{Name: "irq/packet", Unit: unit.PerPacket}, udpStream, []result.Taken{remote(result.InterruptsPerPacket)}, false},
	{compare.Column{Name: "softirq/packet", Unit: unit.PerPacket}, udpStream, []result.Taken{remote(result.SoftirqsPerPacket)}, false},
	{compare.Column{Name: "CPU", Unit: unit.SecondsPerByte}, udpStream, bothEnds(result.CPUPerByte), true},
	{compare.Column{Name: "CPU soak", Unit: unit.SecondsPerByte}, udpStream, bothEnds(result.CPUSoakPerByte), true},
	{compare.Column{Name: "TCP", Unit: unit.BitsPerSecond}, tcpStream, []result.Taken{remote(result.Goodput)}, true},
}

// table is the section: a row a level.
func (s *sweep) table() compare.Section {
	t := compare.Section{Name: "mitigation", Title: "latency, interrupts and CPU time by mitigation (frames/wait)",
		Notes: []string{"An interrupt is a run of the wire's handler; CPU time is of both ends together, for each byte."}}
	for _, c := range swept {
		t.Columns = append(t.Columns, c.column)
	}
	for _, level := range s.levels {
		line := compare.Line{Label: level}
		for _, c := range swept {
			tests := s.in.testsOf(c.kind)
			if len(tests) == 0 {
				line.Cells = append(line.Cells, none("not run"))
				continue
			}
			line.Cells = append(line.Cells, number(s.figure(level, tests[0], c.of...), "not counted"))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// changeTable has what the levels change, with verdicts.
func (s *sweep) changeTable() compare.Section {
	t := compare.Section{Name: "mitigation-change", Title: "change by mitigation, against " + s.levels[0]}
	for _, c := range swept {
		if c.changes {
			t.Columns = append(t.Columns, compare.Column{Name: c.column.Name, Percent: true})
		}
	}
	for _, level := range s.levels[1:] {
		line := compare.Line{Label: level}
		for _, c := range swept {
			if !c.changes {
				continue
			}
			tests := s.in.testsOf(c.kind)
			switch {
			case len(tests) == 0:
				line.Cells = append(line.Cells, none("not run"))
			case len(c.of) == 1:
				line.Cells = append(line.Cells, changed(s.change(level, tests[0], c.of[0])))
			default:
				line.Cells = append(line.Cells, ranged(s.in.change(s.blocks(s.levels[0], tests[0], c.of), s.blocks(level, tests[0], c.of)), "not counted"))
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// waitWithin is how far, in ns, the rise of a lone round trip may lie from the waits
// of its two ways; a tenth of them if that is more.
const waitWithin = 2 * delayWithin

// waits checks that lone requests wait as long as the wire waits for more frames, on
// either way, against what the baseline has them wait. Requests of which several are
// under way wait for one another, and nothing is checked of them.
func (s *sweep) waits() []compare.Check {
	if s.rr == nil || !lone(*s.rr) {
		return nil
	}
	var all []compare.Check
	without, ok := s.waited(s.levels[0])
	if !ok {
		return nil
	}
	for _, level := range s.levels[1:] {
		wait, ok := s.waited(level)
		if !ok {
			continue
		}
		wanted := 2 * (wait - without)
		c := compare.Check{Name: level + ": a lone round trip waits twice", Unit: unit.Nanoseconds,
			Wanted: wanted, Within: math.Max(waitWithin, delayShare*2*math.Max(wait, without))}
		if every := apart(*s.rr); math.Max(wait, without) >= every {
			c.Text = fmt.Sprintf("requests come every %s, so that none is alone", unit.Format(every, unit.Nanoseconds))
			all = append(all, c)
			continue
		}
		variants := s.in.having(spec.Variant{mitigation: level})
		base := s.in.having(spec.Variant{mitigation: s.levels[0]})
		rtt := local(result.RTTP50)
		found(&c, s.in.difference(s.in.averaged(*s.rr, base, rtt), s.in.averaged(*s.rr, variants, rtt)))
		if !c.Pass {
			trials := s.in.made(*s.rr, variants)
			c.Text = joinTexts(c.Text, held(trials), trouble(trials))
		}
		all = append(all, c)
	}
	return all
}

// waited is for how long in ns a level has a lone frame wait: where a single one is
// enough it does not.
func (s *sweep) waited(level string) (ns float64, ok bool) {
	if spec.BaseLevel(level) == unmitigated {
		return 0, true
	}
	count, wait, ok := mitigated(level)
	if count == 1 {
		wait = 0
	}
	return float64(wait), ok
}

// apart is how far in ns a test's requests are apart: without end where each waits
// for the answer to the last.
func apart(t spec.Test) float64 {
	if !t.OpenLoop() {
		return math.Inf(1)
	}
	return 1e9 / t.Slots()
}

// mitigated reads "4/50us": so many frames, or so long a wait.
func mitigated(level string) (count int, wait time.Duration, ok bool) {
	n, w, ok := strings.Cut(spec.BaseLevel(level), "/")
	if !ok {
		return 0, 0, false
	}
	count, err := strconv.Atoi(n)
	if err != nil || count < 1 {
		return 0, 0, false
	}
	if wait, err = time.ParseDuration(w); err != nil || wait < 0 {
		return 0, 0, false
	}
	return count, wait, true
}

// percentOff is a change in percent for people: "-23%".
func percentOff(v float64) string { return fmt.Sprintf("%+.0f%%", v) }
