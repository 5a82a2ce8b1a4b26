package compare

import (
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// part is what is compared within one combination of the levels of a plan's
// conditions.
type part struct {
	under string // the combination, as Comparison.Under has it
	plan  spec.Plan
	// variants are those of its plan, and at are their places among all that the
	// whole plan runs.
	variants []spec.Variant
	at       []int
}

// partsOf are the parts of a plan, in the order in which its variants have them; the
// whole plan where it has no conditions. The plan is valid, so that the variants of
// each are the same, in one order, and so are all questions that can be asked of
// them. The tests of a part are those that its conditions make of the plan's.
func partsOf(plan *spec.Plan) []part {
	all := ran(plan)
	conditions, compared := spec.Split(plan.Factors)
	if len(conditions) == 0 {
		one := part{plan: *plan, variants: all}
		for v := range all {
			one.at = append(one.at, v)
		}
		return []part{one}
	}
	var combinations, inner []spec.Variant
	place := map[string]int{}
	for i, v := range all {
		place[v.Key(plan.Factors)] = i
		combinations = addVariant(combinations, conditions, v)
		inner = addVariant(inner, compared, v)
	}
	var parts []part
	for _, c := range combinations {
		p := part{under: c.Key(conditions), plan: *plan, variants: inner}
		p.plan.Factors, p.plan.Baseline, p.plan.Chosen = compared, plan.Baseline.Of(compared), nil
		if plan.Chosen != nil {
			p.plan.Chosen = inner
		}
		p.plan.Tests = slices.Clone(plan.Tests)
		outer := spec.Plan{Factors: conditions}
		for t, test := range plan.Tests {
			// What the conditions alone do not make a test of is told by the plan's.
			if of, err := outer.TestUnder(c, test); err == nil {
				p.plan.Tests[t] = of
			}
		}
		for _, v := range inner {
			whole := spec.Variant{}
			for _, f := range conditions {
				whole[f.Name] = c[f.Name]
			}
			for _, f := range compared {
				whole[f.Name] = v[f.Name]
			}
			p.at = append(p.at, place[whole.Key(plan.Factors)])
		}
		parts = append(parts, p)
	}
	return parts
}

// addVariant adds what a variant has of some factors, if that is new.
func addVariant(all []spec.Variant, factors []spec.Factor, v spec.Variant) []spec.Variant {
	of := v.Of(factors)
	if slices.ContainsFunc(all, func(o spec.Variant) bool { return o.Key(factors) == of.Key(factors) }) {
		return all
	}
	return append(all, of)
}

// within are the grids of the plan's parts: views of this one, whose blocks are
// complete where they are in all of them.
func (g *grid) within() []*grid {
	var all []*grid
	for _, p := range partsOf(g.plan) {
		in := &grid{plan: &p.plan, condition: p.under, variants: p.variants, at: p.at,
			trials: g.trials, complete: g.complete, common: g.common}
		for _, v := range p.at {
			in.under = append(in.under, g.under[v])
		}
		for _, variants := range g.cells {
			var of [][]*cell
			for _, v := range p.at {
				of = append(of, variants[v])
			}
			in.cells = append(in.cells, of)
		}
		all = append(all, in)
	}
	return all
}

// underBoth is what holds within a condition and beside: "rate=full offload=on".
func underBoth(condition, beside string) string {
	return strings.TrimSpace(condition + " " + beside)
}

// rowsWithin makes the rows of some contrasts in each part, by contrast, part, test
// and metric.
func rowsWithin(parts []*grid, contrasts []contrast) []*row {
	var all []*row
	for _, c := range contrasts {
		for _, g := range parts {
			all = append(all, g.rows([]contrast{c})...)
		}
	}
	return all
}

// Compared are the factors whose levels are compared, and Conditions those within
// which they are.
func (r *Report) Compared() []spec.Factor {
	_, compared := spec.Split(r.Factors)
	return compared
}

func (r *Report) Conditions() []spec.Factor {
	conditions, _ := spec.Split(r.Factors)
	return conditions
}

// unders are the combinations of conditions that the report's rows are within.
func (r *Report) unders() []string {
	if len(r.Conditions()) == 0 {
		return nil
	}
	var all []string
	for i := range r.Comparisons {
		if u := r.Comparisons[i].Under; !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	return all
}

// underList names combinations of conditions: "rate=100Mbit/s, 1Gbit/s and full".
func underList(unders []string) string {
	name, _, _ := strings.Cut(unders[0], "=")
	short := []string{unders[0]}
	for _, u := range unders[1:] {
		level, same := strings.CutPrefix(u, name+"=")
		if !same || strings.Contains(u, " ") {
			return list(unders)
		}
		short = append(short, level)
	}
	return list(short)
}

// sides says whose trials some are by the variants, those of one condition together:
// " at rate=full", " of kthread and uthread at rate=100Mbit/s".
func (g *grid) sides(names []string) string {
	parts := partsOf(g.plan)
	if len(parts) == 1 && parts[0].under == "" {
		return ofSides(names)
	}
	var lists, unders []string
	for _, p := range parts {
		var in []string
		for i, at := range p.at {
			if slices.Contains(names, g.named(at)) {
				in = append(in, shortKey(p.variants[i], p.plan.Factors))
			}
		}
		text := list(in)
		if len(in) == len(p.at) {
			text = "all"
		}
		lists, unders = append(lists, text), append(unders, p.under)
	}
	var texts []string
	for i, text := range lists {
		if text == "" || slices.Contains(lists[:i], text) {
			continue
		}
		var at []string
		for j, other := range lists {
			if other == text {
				at = append(at, unders[j])
			}
		}
		if len(at) < len(lists) {
			text += " at " + underList(at)
		}
		texts = append(texts, text)
	}
	text := strings.Join(texts, ", ")
	if at, all := strings.CutPrefix(text, "all at "); all && len(texts) == 1 {
		return " at " + at
	}
	return " of " + text
}

// shortKey is a variant as a report calls it: a level where one factor is varied.
func shortKey(v spec.Variant, factors []spec.Factor) string {
	if len(factors) == 1 {
		return v[factors[0].Name]
	}
	return v.Key(factors)
}
