package compare

import (
	"fmt"
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// interactions adds, for each two factors, what two changes together do beyond what
// each does alone: the ratio of the ratios, or the difference of the differences of
// figures that can be zero. They have no interval. A sentence says the differences
// in the metric's unit where the ratios are not alike.
func (p *posted) interactions(r *Report) {
	for i, f := range p.factors {
		for _, g := range p.factors[i+1:] {
			for _, lf := range f.Levels[1:] {
				for _, lg := range g.Levels[1:] {
					p.interaction(r, [2]spec.Factor{f, g}, [2]string{lf, lg})
				}
			}
		}
	}
}

// interaction is one of them, within each combination of further factors' levels.
func (p *posted) interaction(r *Report, of [2]spec.Factor, to [2]string) {
	others := slices.DeleteFunc(slices.Clone(p.factors), func(o spec.Factor) bool { return o.Name == of[0].Name || o.Name == of[1].Name })
	base := [2]string{of[0].Levels[0], of[1].Levels[0]}
	seen := map[string]bool{}
	for _, c := range r.Comparisons {
		if c.Factor != of[0].Name || c.Variant != to[0] || c.DeltaPct == nil && c.Delta == nil {
			continue
		}
		for _, v := range p.levels {
			corners := [4]float64{}
			for n, corner := range [4][2]string{{base[0], base[1]}, {to[0], base[1]}, {base[0], to[1]}, {to[0], to[1]}} {
				at := v.Of(p.factors)
				at[of[0].Name], at[of[1].Name] = corner[0], corner[1]
				corners[n] = p.median(at, c.Of(), c.taken())
			}
			key := fmt.Sprint(c.Of(), c.taken(), v.Key(others))
			if seen[key] || slices.ContainsFunc(corners[:], math.IsNaN) {
				continue
			}
			seen[key] = true
			e := Comparison{
				Test: c.Test, Params: c.Params, Under: v.Key(others), Factor: of[0].Name + ":" + of[1].Name,
				Baseline: base[0] + ":" + base[1], Variant: to[0] + ":" + to[1],
				Metric: c.Metric, End: c.End, Unit: c.Unit, Better: c.Better, Scale: c.Scale, Margin: c.Margin,
				Verdict: Unsure, Warnings: []result.Warning{}, N: 1, NA: 1, NB: 1,
			}
			e.setShift(stats.Interval{Est: beyondEach(corners, c.Scale), Lo: math.NaN(), Hi: math.NaN()})
			r.Effects = append(r.Effects, e)
			if said := p.apart(&e, of, to, corners); said != "" && c.Rank() != result.Detail {
				r.Findings = append(r.Findings, said)
			}
		}
	}
}

// beyondEach is what two changes do together beyond what each does, on the link of the
// scale: of the corners neither, first, second and both.
func beyondEach(corners [4]float64, s Scale) float64 {
	to := linear.to
	if s == Percent {
		to = logarithmic.to
	}
	return (to(corners[3]) - to(corners[2])) - (to(corners[1]) - to(corners[0]))
}

// apart says what the first change is worth at either level of the other, where that
// is not the same by more than the margin.
func (p *posted) apart(e *Comparison, of [2]spec.Factor, to [2]string, corners [4]float64) string {
	est, _, _ := e.Shift()
	if !(math.Abs(est) > e.Margin) {
		return ""
	}
	change := func(from, to float64) string {
		div, label := unit.Scale(e.Unit, to-from)
		text := signed(unit.FormatIn(to-from, div)) + " " + label
		if e.Unit == unit.Share {
			text = signed(points(to-from)) + " pp"
		}
		if e.Scale == Percent {
			text += " (" + signed(relative(100*(to/from-1))) + "%)"
		}
		return text
	}
	return fmt.Sprintf("%s %s: %s against %s is %s with %s and %s with %s, so %s and %s don't act independently in these figures.",
		e.Name(), e.Metric, to[0], of[0].Levels[0],
		change(corners[0], corners[1]), of[1].Levels[0], change(corners[2], corners[3]), to[1], of[0].Name, of[1].Name)
}

// median is a variant's figure; NaN where it has none.
func (p *posted) median(at spec.Variant, test spec.Test, t result.Taken) float64 {
	key := at.Key(p.factors)
	i := slices.IndexFunc(p.levels, func(v spec.Variant) bool { return v.Key(p.factors) == key })
	if i < 0 {
		return math.NaN()
	}
	var figures []float64
	for _, k := range p.parties[i].kept {
		for _, x := range k.trials {
			if x.Test != test {
				continue
			}
			if f := x.Imported.Figure(t); f != nil {
				figures = append(figures, f.Value)
			}
		}
	}
	if len(figures) == 0 {
		return math.NaN()
	}
	return stats.Median(figures)
}
