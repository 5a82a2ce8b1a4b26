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

// tooMuch is the share of a variant's round trip from which on a floor is not taken
// out of it: what is left would be the estimate's error rather than a figure.
const tooMuch = 0.8

// Floor takes what the wire itself costs out of each variant's round trips, and tells
// what the factors do to the rest. The wire's two hops are two wake-ups of a thread
// that sleeps in a read: what they cost is estimated by a wake test through a pipe
// beside the plan.
func Floor(in *Input) {
	if !in.usable() {
		return
	}
	test, ok := in.shortTest()
	if !ok {
		return
	}
	f := in.floorOf()
	variants := compare.Section{
		Name: "floor", Title: test.Short() + " p50 without the wire's floor",
		Columns: []compare.Column{
			{Name: "p50", Unit: unit.Nanoseconds}, {Name: "floor", Unit: unit.Nanoseconds}, {Name: "without", Unit: unit.Nanoseconds},
		},
		Notes: []string{f.about()},
	}
	for _, v := range in.Plan.Variants() {
		x := in.figures(test, v, rttP50)
		cost, why := f.under(in, test, v)
		p50, rest := in.median(x), stats.Interval{Est: math.NaN()}
		if why == "" {
			rest = in.without(x, cost)
			why = overfull(p50.Est, cost.Est)
			if why != "" {
				rest.Est = math.NaN()
			}
		}
		variants.Rows = append(variants.Rows, compare.Line{Label: in.name(v), Cells: []compare.Datum{
			ranged(p50, "no figure"), ranged(cost, why), ranged(rest, why)}})
	}
	changes := compare.Section{
		Name: "floor_changes", Title: "What each change does, as measured and without the floor",
		Columns: []compare.Column{
			{Name: "measured", Percent: true}, {Name: "without floor", Percent: true}, {Name: "worth", Unit: unit.Nanoseconds},
		},
	}
	for _, p := range in.pairs() {
		in.floored(&changes, p, test, f)
	}
	in.Report.Sections = append(in.Report.Sections, variants, changes)
	for i := range in.Report.Effects {
		in.found(in.interaction(&in.Report.Effects[i], test))
	}
}

// floored adds what one change does with the other factors at each combination of
// their levels.
func (in *Input) floored(s *compare.Section, p pair, test spec.Test, f floor) {
	var said []string
	for i := range p.a {
		a, b := in.figures(test, p.a[i], rttP50), in.figures(test, p.b[i], rttP50)
		costA, whyA := f.under(in, test, p.a[i])
		costB, whyB := f.under(in, test, p.b[i])
		why := whyA
		if why == "" {
			why = whyB
		}
		if why == "" {
			why = overfull(in.median(a).Est, costA.Est)
		}
		if why == "" {
			why = overfull(in.median(b).Est, costB.Est)
		}
		measured, worth := in.change(a, b), in.difference(a, b)
		rest := stats.Interval{Est: math.NaN()}
		if why == "" {
			rest = in.changeWithout(a, b, costA, costB)
		}
		others := in.others(p, p.a[i])
		label := in.title(p)
		if others != "" {
			label += ", " + others
		}
		s.Rows = append(s.Rows, compare.Line{Label: label, Cells: []compare.Datum{
			ranged(measured, "no figure"), ranged(rest, why), ranged(worth, "no figure")}})
		// What may be nothing is left to the table.
		if finite(rest.Est) && (costA.Est > 0 || costB.Est > 0) && in.settled(measured) && (measured.Lo > 0 || measured.Hi < 0) {
			text := fmt.Sprintf("%s as measured and %s without it, worth %s", percents(measured), percents(rest), plus(worth))
			if others != "" {
				text = "with " + others + " " + text
			}
			said = append(said, text)
		}
	}
	if len(said) > 0 {
		in.found(fmt.Sprintf("%s, %s p50 and the wire's floor (an estimate): %s.", in.title(p), test.Short(), strings.Join(said, "; ")))
	}
}

// others are the levels of a variant that a pair's title does not tell.
func (in *Input) others(p pair, v spec.Variant) string {
	var parts []string
	for _, f := range in.Plan.Factors {
		if f.Name != p.factor && !f.Condition {
			parts = append(parts, f.Name+"="+v[f.Name])
		}
	}
	return strings.Join(parts, " ")
}

// without is the median of figures less a floor. The interval is the figures' and the
// floor's own at their worst together.
func (in *Input) without(x []float64, cost stats.Interval) stats.Interval {
	m := in.median(x)
	return stats.Interval{Est: m.Est - cost.Est, Lo: m.Lo - cost.Hi, Hi: m.Hi - cost.Lo, Level: m.Level}
}

// changeWithout is the change in percent of what is left without the floor: the
// widest interval of those with the floor at its estimate and at either bound.
func (in *Input) changeWithout(a, b []float64, costA, costB stats.Interval) stats.Interval {
	at := func(floorA, floorB float64) stats.Interval { return in.change(less(a, floorA), less(b, floorB)) }
	s := at(costA.Est, costB.Est)
	for _, bound := range []stats.Interval{at(costA.Lo, costB.Lo), at(costA.Hi, costB.Hi)} {
		s.Lo, s.Hi = min(s.Lo, bound.Lo), max(s.Hi, bound.Hi)
	}
	return s
}

// less is every figure less a constant.
func less(x []float64, by float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v - by
	}
	return y
}

// overfull says why a floor is not taken out of a figure; empty where it can be.
func overfull(figure, floor float64) string {
	if finite(figure) && floor >= tooMuch*figure {
		return fmt.Sprintf("the floor is %.0f%% of it", 100*floor/figure)
	}
	return ""
}

// interaction is what there is to say of two changes made both, by the short round
// trips; empty for nothing.
func (in *Input) interaction(c *compare.Comparison, test spec.Test) string {
	if c.Of() != test || c.Metric != rttP50.Name || !judged(c) {
		return ""
	}
	if c.Verdict == compare.Same {
		return fmt.Sprintf("%s act independently on %s p50, within %g%%.", strings.ReplaceAll(c.Factor, ":", " and "), testName(c), in.Report.MarginPct)
	}
	return fmt.Sprintf("%s do not act independently: %s together are %s on %s p50 beyond what each does by itself.",
		strings.ReplaceAll(c.Factor, ":", " and "), strings.ReplaceAll(c.Variant, ":", " and "), c.Change(1), testName(c))
}

// floor is what the wire's two hops cost, by the test beside.
type floor struct {
	cost stats.Interval // ns
	why  string         // why it is not known
}

// floorOf looks for the test: two threads on two CPUs that sleep in a read of a pipe.
func (in *Input) floorOf() floor {
	for _, busy := range []string{"", spec.WakeAwake} { // the latter where all CPUs are kept so
		for _, b := range in.beside(result.RTTP50) {
			if b.Test == "wake" && b.Params.By == "pipe" && b.Params.At == spec.WakeOther && b.Params.Busy == busy && b.Median != nil {
				return floor{cost: intervalOf(&b)}
			}
		}
	}
	return floor{why: "no wake test by pipe on another CPU beside"}
}

// about says what a floor is, below the table.
func (f floor) about() string {
	if f.why != "" {
		return "The floor is not known: " + f.why + "."
	}
	return "The floor is an estimate by a test beside: there and back through two pipes, as the wire wakes twice in a round trip. veth has no wire, and no floor."
}

// under is the floor of a variant's link: nothing where that has no wire of its own,
// and not known where the wire holds frames beside what its wake-ups take.
func (f floor) under(in *Input, test spec.Test, v spec.Variant) (cost stats.Interval, why string) {
	nothing := stats.Interval{Est: math.NaN()}
	counted := false
	for _, t := range in.trials(test, v) {
		if t == nil {
			continue
		}
		for name, n := range t.Path.Counts {
			counted = true
			if strings.HasPrefix(name, "wire.") && strings.HasSuffix(name, ".held_frames") && n > 0 {
				return nothing, "the wire holds frames for a time of its own"
			}
		}
		for name, n := range t.Path.Counts {
			if strings.HasPrefix(name, "wire.") && n > 0 {
				if f.why != "" {
					return nothing, f.why
				}
				return f.cost, ""
			}
		}
	}
	if !counted {
		return nothing, "the link told nothing"
	}
	return stats.Interval{}, ""
}
