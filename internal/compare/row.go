package compare

import (
	"fmt"
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/stats"
)

// confidence is the level of every interval, but in runs that may stop by
// precision.
const confidence = 0.95

// confidence is the level of the plan's intervals; 1 less it is that of its
// families. Where a run stops when its intervals are narrow, they are too short
// for their level, which a higher one makes up for.
func (g *grid) confidence() float64 {
	if g.plan.Precision > 0 {
		return stats.StoppedLevel
	}
	return confidence
}

// level is the chance of a false alarm in a family.
func (g *grid) level() float64 {
	const places = 1e9 // without what rounding adds to 1 - 0.95
	return math.Round((1-g.confidence())*places) / places
}

// Level is the confidence of the report's intervals, where there are blocks
// enough, 0 to 1; 1 less it is the chance of a false alarm in a family.
func (r *Report) Level() float64 {
	if r.PrecisionPct > 0 {
		return stats.StoppedLevel
	}
	return confidence
}

// Fewest is the fewest blocks from which a verdict can come at the report's level:
// spec.MinBlocks, and one more in a run that may stop by precision.
func (r *Report) Fewest() int { return stats.FewestPairs(r.Level()) }

// row is a comparison in the making, with its difference in each block: NaN
// where the block is incomplete for it. Differences are of logarithms where
// the scale is percent.
type row struct {
	Comparison
	differences []float64
	// ran is the blocks that could have given a difference.
	ran int
	// hopeless says that more blocks would not help: the figures are missing
	// or zero in blocks that have run.
	hopeless bool
	pair     [2]change // of an interaction
}

// row makes everything of a comparison but its p and verdict.
func (g *grid) row(test int, d result.Definition, c contrast) row {
	of := g.plan.Tests[test]
	r := row{Comparison: Comparison{
		Test: of.Name, Params: of.Params, Varied: variedIn(g.plan, of), Under: underBoth(g.condition, c.under), Factor: c.factor, Baseline: c.baseline, Variant: c.variant,
		Metric: d.Name, End: d.End, Unit: d.Unit, Better: d.Better, Scale: d.Scale, Role: g.role(test, d),
	}, pair: c.pair}
	var trials []*cell
	g.each(test, slices.Concat(c.minus, c.plus), func(x *cell) { trials = append(trials, x) })
	var minus, plus []*cell
	g.each(test, c.minus, func(x *cell) { minus = append(minus, x) })
	g.each(test, c.plus, func(x *cell) { plus = append(plus, x) })
	r.Held = heldIn(d.Taken(), minus, plus)
	r.ran = g.complete
	r.Warnings = append(g.common.warningsAbout(d.Taken(), trials), c.warnings...)
	scale, hopeless := r.scaleOf(trials)
	r.hopeless = hopeless
	a := g.side(test, d.Taken(), c.minus, c.minusShares, scale)
	b := g.side(test, d.Taken(), c.plus, c.plusShares, scale)
	r.differences = make([]float64, g.plan.Blocks)
	for i := range r.differences {
		r.differences[i] = c.weight * (b.linked[i] - a.linked[i])
		if !math.IsNaN(r.differences[i]) {
			r.N++
		}
	}
	if c.shown != nil {
		a = g.side(test, d.Taken(), c.shown[0], nil, scale)
		b = g.side(test, d.Taken(), c.shown[1], nil, scale)
	}
	if c.sides {
		r.A, r.B = summaries(a.figures, b.figures, r.N > 0, g.confidence())
	}
	if r.N == 0 && len(trials) > 0 && g.complete > 0 {
		r.hopeless = true
	}
	if r.hopeless {
		for i := range r.differences {
			r.differences[i] = math.NaN()
		}
	}
	r.setShift(stats.SignedRank(r.differences, g.confidence()))
	r.Margin = margin(g.plan.Margin, g.plan.Window, d, value(r.A.Median))
	return r
}

// scaleOf is the link that the row's trials allow, and whether a change can't
// be told from them: a figure of zero has no logarithm, and leaving out the
// trials that failed would flatter the others.
func (c *Comparison) scaleOf(trials []*cell) (l link, hopeless bool) {
	if c.Scale == Difference {
		return linear, false
	}
	zeros := 0
	for _, x := range trials {
		if x.figure(c.taken()) <= 0 {
			zeros++
		}
	}
	if zeros == 0 {
		return logarithmic, false
	}
	advice := "look at why nothing came through"
	if c.cost() {
		advice = "measure for longer (--time)"
	}
	c.Warnings = append(c.Warnings, result.Warning{Code: "zero-figure", Metric: c.Metric,
		Text:   fmt.Sprintf("%d of %d trials measured 0, so there is no relative change", zeros, len(trials)),
		Advice: advice})
	return linear, true
}

// setShift takes over an estimate on the scale of the row's link.
func (c *Comparison) setShift(s stats.Interval) {
	c.Confidence = s.Level
	lo, hi := number(s.Lo), number(s.Hi)
	if s.Level == 0 {
		lo, hi = nil, nil
	}
	if c.Scale == Difference {
		c.Delta, c.Lo, c.Hi = number(s.Est), lo, hi
		return
	}
	percent := func(p *float64) *float64 { return number(100 * math.Expm1(value(p))) }
	c.DeltaPct, c.LoPct, c.HiPct = percent(number(s.Est)), percent(lo), percent(hi)
}

// link is the scale on which figures are averaged and subtracted.
type link struct{ to, from func(float64) float64 }

var (
	logarithmic = link{math.Log, math.Exp}
	linear      = link{same, same}
)

func same(v float64) float64 { return v }

// side is one side of a comparison in each block, NaN where a figure is
// missing: the mean over its variants on the link's scale, or their sum by
// shares, and the same in the metric's unit.
type side struct{ linked, figures []float64 }

func (g *grid) side(test int, metric result.Taken, variants []int, shares []float64, l link) side {
	s := side{make([]float64, g.plan.Blocks), make([]float64, g.plan.Blocks)}
	for b := range g.plan.Blocks {
		sum, figure := 0.0, 0.0
		for i, v := range variants {
			figure = g.cells[test][v][b].figure(metric)
			if shares == nil {
				sum += l.to(figure)
			} else {
				sum += shares[i] * l.to(figure)
			}
		}
		if shares == nil {
			sum /= float64(len(variants))
		}
		s.linked[b] = sum
		if len(variants) > 1 {
			figure = l.from(s.linked[b])
		}
		s.figures[b] = figure
	}
	return s
}

// summaries describes both sides: over the blocks that both have, or over
// what there is if they share none.
func summaries(a, b []float64, paired bool, level float64) (sa, sb Summary) {
	var fa, fb []float64
	for i := range a {
		if paired && (math.IsNaN(a[i]) || math.IsNaN(b[i])) {
			continue
		}
		fa, fb = append(fa, a[i]), append(fb, b[i])
	}
	return summarizeAt(fa, level), summarizeAt(fb, level)
}

func summarize(x []float64) Summary { return summarizeAt(x, confidence) }

func summarizeAt(x []float64, level float64) Summary {
	x = slices.DeleteFunc(x, math.IsNaN)
	if len(x) == 0 {
		return Summary{}
	}
	m := stats.MedianInterval(x, level)
	s := Summary{Median: number(m.Est), Max: number(slices.Max(x))}
	if m.Level > 0 {
		s.Lo, s.Hi = number(m.Lo), number(m.Hi)
	}
	return s
}
