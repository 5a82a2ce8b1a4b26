package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// design is what some variants of a crossing can tell of effects. An effect is
// what it is in the full crossing: a main effect is the mean over all levels of
// the others, an interaction a difference of differences. It is estimated by
// least squares, with interactions of three factors and more taken as none.
type design struct {
	plan     *spec.Plan
	variants []spec.Variant
	terms    []term
	columns  [][]float64 // by column and variant; the first is the mean's
}

// term is a factor, or a pair of factors, with its columns: one for each degree
// of freedom. Over the full crossing the columns of different terms are
// orthogonal.
type term struct {
	factors []spec.Factor
	first   int // its first column
	codes   [][]float64
	columns [][]float64
}

// name is the factor, or the pair as in "rx:offload".
func (t *term) name() string {
	if len(t.factors) == 1 {
		return t.factors[0].Name
	}
	return t.factors[0].Name + ":" + t.factors[1].Name
}

func newDesign(plan *spec.Plan, variants []spec.Variant) *design {
	d := &design{plan: plan, variants: variants, columns: [][]float64{make([]float64, len(variants))}}
	for v := range variants {
		d.columns[0][v] = 1
	}
	add := func(factors ...spec.Factor) {
		t := term{factors: factors, first: len(d.columns)}
		for v := range variants {
			code := []float64{1}
			for _, f := range factors {
				code = times(code, coded(f, variants[v][f.Name]))
			}
			t.codes = append(t.codes, code)
		}
		for c := range t.codes[0] {
			column := make([]float64, len(variants))
			for v := range column {
				column[v] = t.codes[v][c]
			}
			t.columns = append(t.columns, column)
		}
		d.columns = append(d.columns, t.columns...)
		d.terms = append(d.terms, t)
	}
	for _, f := range plan.Factors {
		add(f)
	}
	for i, f := range plan.Factors {
		for _, g := range plan.Factors[i+1:] {
			add(f, g)
		}
	}
	return d
}

// coded is a level as numbers that sum to zero over the factor's levels
// (Helmert's), so that a main effect is the mean over all other factors.
func coded(f spec.Factor, level string) []float64 {
	code := make([]float64, len(f.Levels)-1)
	at := slices.Index(f.Levels, level)
	for j := range code {
		switch {
		case at <= j:
			code[j] = 1
		case at == j+1:
			code[j] = -float64(j + 1)
		}
	}
	return code
}

// times is all products of a number of one with a number of the other.
func times(a, b []float64) []float64 {
	var all []float64
	for _, x := range a {
		for _, y := range b {
			all = append(all, x*y)
		}
	}
	return all
}

// question is what an effect asks of the columns of its term: the effect is the
// sum of their coefficients, each with its number here.
func (d *design) question(t *term, levels ...string) []float64 {
	q := []float64{1}
	for i, f := range t.factors {
		to, from := coded(f, levels[i]), coded(f, d.plan.Baseline[f.Name])
		for j := range to {
			to[j] -= from[j]
		}
		q = times(q, to)
	}
	all := make([]float64, len(d.columns))
	copy(all[t.first:], q)
	return all
}

// effects are the contrasts of all effects that can be told.
//
// Where all main effects and two-factor interactions can be estimated together,
// or one of them beside all the others, that is done. Else it depends on the
// fraction. In a regular one two effects are either apart or the same: then the
// first of those that are the same has rows, and says so. In any other, main
// effects are estimated as if there were no interactions.
func (d *design) effects() (mains, both []contrast, aliases [][]string, warnings []result.Warning) {
	all := make([]int, len(d.columns))
	for c := range all {
		all[c] = c
	}
	full := newFit(d.columns, all)
	classes := d.classes()
	regular := classes != nil
	reduced := newFit(d.columns, d.reduced(classes))
	var untold, alone []string
	for i := range d.terms {
		t := &d.terms[i]
		same := classOf(classes, i)
		missing := false
		for _, c := range d.asked(t) {
			w, ok := full.weights(c.question)
			if !ok && (len(t.factors) == 1 || regular) && (len(same) == 0 || same[0] == i) {
				if w, ok = reduced.weights(c.question); ok && regular {
					c.warnings = d.aliased(i, same)
				} else if ok && !slices.Contains(alone, t.name()) {
					alone = append(alone, t.name())
				}
			}
			switch {
			case ok && len(t.factors) == 1:
				c.contrast.weigh(w, variantsHaving(d.variants, t.factors[0].Name, c.baseline, c.variant))
				mains = append(mains, c.contrast)
			case ok:
				c.contrast.weigh(w, nil)
				both = append(both, c.contrast)
			default:
				missing = missing || len(same) < 2
			}
		}
		if missing {
			untold = append(untold, t.name())
		}
	}
	for _, class := range classes {
		if len(class) > 1 {
			aliases = append(aliases, d.names(class))
		}
	}
	return mains, both, aliases, d.warnings(aliases, alone, untold)
}

// asked are the effects of a term, without weights.
func (d *design) asked(t *term) []asked {
	var all []asked
	f := t.factors[0]
	f0 := d.plan.Baseline[f.Name]
	for _, fl := range f.Levels {
		if fl == f0 {
			continue
		}
		if len(t.factors) == 1 {
			all = append(all, asked{contrast{factor: f.Name, baseline: f0, variant: fl, sides: true}, d.question(t, fl)})
			continue
		}
		g := t.factors[1]
		g0 := d.plan.Baseline[g.Name]
		for _, gl := range g.Levels {
			if gl != g0 {
				all = append(all, asked{contrast{factor: t.name(), baseline: f0 + ":" + g0, variant: fl + ":" + gl,
					pair: [2]change{{f.Name, fl}, {g.Name, gl}}}, d.question(t, fl, gl)})
			}
		}
	}
	return all
}

type asked struct {
	contrast
	question []float64
}

// weigh takes over what each variant counts for. levels, if it is not nil, has
// the variants of the baseline's level and of the other.
func (c *contrast) weigh(w []float64, levels *[2][]int) {
	sums := [2]float64{}
	for v, share := range w {
		switch {
		case share > negligible:
			c.plus, c.plusShares = append(c.plus, v), append(c.plusShares, share)
			sums[1] += share
		case share < -negligible:
			c.minus, c.minusShares = append(c.minus, v), append(c.minusShares, -share)
			sums[0] -= share
		}
	}
	c.weight = 1
	if alike(c.minusShares) && alike(c.plusShares) && math.Abs(sums[0]-sums[1]) < negligible {
		c.minusShares, c.plusShares = nil, nil
		c.weight = math.Round(sums[1]/negligible) * negligible
	}
	if levels == nil {
		return
	}
	inside := func(of, in []int) bool {
		return !slices.ContainsFunc(of, func(v int) bool { return !slices.Contains(in, v) })
	}
	if !inside(c.minus, levels[0]) || !inside(c.plus, levels[1]) || math.Abs(sums[1]-1) > negligible || math.Abs(sums[0]-1) > negligible {
		c.shown = levels
	}
}

// negligible is what rounding leaves of a weight that is none.
const negligible = 1e-9

// alike says that all numbers are the same but for rounding.
func alike(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.Abs(v-x[0]) > negligible })
}

func variantsHaving(variants []spec.Variant, factor, baseline, level string) *[2][]int {
	return &[2][]int{having(variants, spec.Variant{factor: baseline}), having(variants, spec.Variant{factor: level})}
}

func (d *design) names(class []int) []string {
	names := make([]string, len(class))
	for i, t := range class {
		names[i] = d.terms[t].name()
	}
	return names
}

// aliased warns of what can't be told from an effect.
func (d *design) aliased(t int, class []int) []result.Warning {
	if len(class) < 2 {
		return nil
	}
	others := d.names(slices.DeleteFunc(slices.Clone(class), func(o int) bool { return o == t }))
	return []result.Warning{{Code: "aliased",
		Text:   fmt.Sprintf("the variants that were run can't tell %s from %s: the change is of both together", d.terms[t].name(), list(others)),
		Advice: "run the full crossing, or variants that tell them apart"}}
}

// warnings say what a design leaves open.
func (d *design) warnings(aliases [][]string, alone, untold []string) []result.Warning {
	var all []result.Warning
	if len(aliases) > 0 {
		var groups []string
		for _, a := range aliases {
			groups = append(groups, strings.Join(a, " = "))
		}
		all = append(all, result.Warning{Code: "aliased",
			Text:   fmt.Sprintf("%s of the crossing can't tell these effects apart: %s", unit.Count(len(d.variants), "variant"), someOf(groups, "; ")),
			Advice: "believe the first of each where the others are unlikely, or run the full crossing"})
	}
	if len(alone) > 0 {
		all = append(all, result.Warning{Code: "no-interactions",
			Text: fmt.Sprintf("%s: estimated by least squares over the %s that were run as if no two factors interacted; where some do, that is in the changes, and the two columns are means of what ran, which need not lie as far apart as the change",
				someOf(alone, ", "), unit.Count(len(d.variants), "variant")),
			Advice: "run the full crossing to see interactions"})
	}
	if len(untold) > 0 {
		all = append(all, result.Warning{Code: "not-estimable",
			Text:   fmt.Sprintf("the %s that were run tell nothing, or not all, of %s", unit.Count(len(d.variants), "variant"), someOf(untold, ", ")),
			Advice: "run the full crossing, or add variants in which these differ by themselves"})
	}
	return all
}

// mostNamed is how many names a warning has.
const mostNamed = 12

// someOf joins names, and counts those that are too many.
func someOf(names []string, by string) string {
	if more := len(names) - mostNamed; more > 0 {
		return strings.Join(names[:mostNamed], by) + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, by)
}
