package compare

import (
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Cell is the figure that stands for a test under one variant of a plan with
// several factors, over all blocks that have it.
type Cell struct {
	Test    string       `json:"test"`
	Params  spec.Params  `json:"params"`
	Varied  []string     `json:"varied,omitempty"` // as in Comparison
	Under   string       `json:"under,omitempty"`  // the plan's conditions
	Metric  string       `json:"metric"`
	End     string       `json:"end"`
	Unit    unit.Unit    `json:"unit"`
	Variant spec.Variant `json:"variant"` // without the conditions
	N       int          `json:"n"`       // blocks
	Summary
}

// Of is the test that the cell is of.
func (c *Cell) Of() spec.Test { return spec.Test{Name: c.Test, Params: c.Params} }

// cellsOf has each variant's figure, by test, in a plan with several factors.
func (g *grid) cellsOf() []Cell {
	if len(g.plan.Factors) < 2 {
		return nil
	}
	var all []Cell
	for _, h := range g.headlines() {
		of := g.plan.Tests[h.test]
		for v, y := range g.linked(h, linear) {
			_, n := average(y)
			all = append(all, Cell{Test: of.Name, Params: of.Params, Varied: variedIn(g.plan, of), Under: g.condition, Metric: h.Name, End: h.End, Unit: h.Unit,
				Variant: g.variants[v], N: n, Summary: summarizeAt(y, g.confidence())})
		}
	}
	return all
}

// simple has, for each interaction of a figure that stands for a test and is
// sure, what each of the two changes does at either level of the other. They are
// told where a mean over the other's levels hides something, and are no part of
// a family: their intervals are their own, and no verdict is given.
func (g *grid) simple(effects []*row) []Comparison {
	var all []Comparison
	if !whole(g.plan, g.variants) {
		return nil
	}
	for _, e := range effects {
		if e.Under != g.condition || e.Rank() != result.Headline || e.Verdict != Better && e.Verdict != Worse {
			continue
		}
		test := slices.IndexFunc(g.plan.Tests, func(t spec.Test) bool { return t == e.Of() })
		d, ok := result.DefinitionOf(e.Of(), e.Metric, e.End)
		if test < 0 || !ok {
			continue
		}
		for _, c := range simpleEffects(g.plan, g.variants, e.pair) {
			r := g.row(test, d, c)
			if !slices.ContainsFunc(all, func(o Comparison) bool {
				return o.Of() == r.Of() && o.Metric == r.Metric && o.End == r.End && o.Factor == r.Factor && o.Variant == r.Variant && o.Under == r.Under
			}) {
				all = append(all, r.Comparison)
			}
		}
	}
	return all
}

// simpleEffects are the contrasts of either change of a pair, with the other
// factor at its baseline and changed.
func simpleEffects(plan *spec.Plan, variants []spec.Variant, pair [2]change) []contrast {
	var all []contrast
	for i, c := range pair {
		other := pair[1-i]
		for _, level := range []string{plan.Baseline[other.factor], other.level} {
			base := plan.Baseline[c.factor]
			all = append(all, contrast{factor: c.factor, baseline: base, variant: c.level, weight: 1, sides: true,
				under: other.factor + "=" + level,
				minus: having(variants, spec.Variant{c.factor: base, other.factor: level}),
				plus:  having(variants, spec.Variant{c.factor: c.level, other.factor: level})})
		}
	}
	return all
}

// change is one factor at another level than its baseline's.
type change struct{ factor, level string }
