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

// Drift is the figure that stands for a test over the time of a run.
type Drift struct {
	Test   string        `json:"test"`
	Params spec.Params   `json:"params"`
	Varied []string      `json:"varied,omitempty"` // as in Comparison
	Under  string        `json:"under,omitempty"`  // the plan's conditions
	Metric string        `json:"metric"`
	End    string        `json:"end"`
	Unit   unit.Unit     `json:"unit"`
	Better result.Better `json:"better"`
	// Scale is that of the levels and of what is derived from them: percent, or
	// the unit where a figure was zero.
	Scale Scale `json:"scale"`
	// Variants are those that the values of each point are of.
	Variants []string `json:"variants"`
	Points   []Point  `json:"points"`
	// Swing is how far the highest of the run's three thirds lies above the
	// lowest, and Halves how far its second half above the first, both by the
	// medians of levels: what "all of one variant, then all of the other" takes
	// for a change. null where there are too few blocks.
	Swing  *float64 `json:"swing"`
	Halves *float64 `json:"halves"`
	// Correlation is Kendall's tau of level and time, -1 to 1.
	Correlation *float64 `json:"correlation"`
	// P is that of the thirds' being alike, by permutation of whole blocks, for
	// all series of the report together.
	P *float64 `json:"p"`
	// Margin is the smallest change that matters, on the same scale.
	Margin float64 `json:"margin"`
}

// Point is one block: the value of each variant, null where it is missing, and
// the level that they have in common, against the run's median.
type Point struct {
	Block  int        `json:"block"`
	Values []*float64 `json:"values"`
	Level  *float64   `json:"level"`
}

// Of is the test that the series is of.
func (d *Drift) Of() spec.Test { return spec.Test{Name: d.Test, Params: d.Params} }

// Real says that the thirds of the run differ by more than chance.
func (d *Drift) Real() bool { return d.P != nil && *d.P < serialLevel }

const (
	// serialLevel is the chance that a report without any drift warns of it, and
	// the same of what a variant leaves behind for the next.
	serialLevel = 0.01
	// byFar is how many margins a drift must have to be warned of.
	byFar = 2
	// permutations is how often blocks, or orders within them, are drawn anew.
	permutations = 2000
)

// drifts has a series for each figure that stands for a test, in each part of a
// plan. The order of blocks is one for all of them.
func drifts(parts []*grid, seed uint64) []Drift {
	var all []Drift
	var levels [][]float64
	for _, g := range parts {
		d, l := g.drifts()
		all, levels = append(all, d...), append(levels, l...)
	}
	for i, p := range thirdsP(levels, seed) {
		all[i].P = number(p)
	}
	return all
}

// drifts has the part's series, but for their p, with their levels by block.
func (g *grid) drifts() (all []Drift, levels [][]float64) {
	for _, h := range g.headlines() {
		scale, l := g.link(h)
		y := g.linked(h, l)
		level := levelsOf(y)
		of := g.plan.Tests[h.test]
		d := Drift{Test: of.Name, Params: of.Params, Varied: variedIn(g.plan, of), Under: g.condition, Metric: h.Name, End: h.End, Unit: h.Unit, Better: h.Better, Scale: scale}
		for v := range g.variants {
			d.Variants = append(d.Variants, g.named(v))
		}
		for b := range g.plan.Blocks {
			p := Point{Block: b, Level: number(shown(scale, level[b]))}
			for v := range g.variants {
				p.Values = append(p.Values, number(g.cells[h.test][v][b].figure(h.Taken())))
			}
			if slices.ContainsFunc(p.Values, func(v *float64) bool { return v != nil }) {
				d.Points = append(d.Points, p)
			}
		}
		d.Margin = percentOf(g.plan.Margin)
		if scale == Difference {
			h.Scale = Difference
			d.Margin = margin(g.plan.Margin, g.plan.Window, h.Definition, stats.Median(slices.Concat(y...)))
		}
		if len(d.Points) > 0 {
			d.summarize(level)
			all, levels = append(all, d), append(levels, level)
		}
	}
	return all, levels
}

// shown is a difference on the scale of a link as a report shows it.
func shown(scale Scale, v float64) float64 {
	if scale == Percent {
		return 100 * math.Expm1(v)
	}
	return v
}

// levelsOf is what the variants of each block have in common: the mean of how
// far each lies from its own mean, against the median of all blocks. A missing
// variant is left out of its block.
func levelsOf(y [][]float64) []float64 {
	levels := make([]float64, len(y[0]))
	var centred [][]float64
	for _, of := range y {
		mean, _ := average(of)
		c := slices.Clone(of)
		for b := range c {
			c[b] -= mean
		}
		centred = append(centred, c)
	}
	for b := range levels {
		var at []float64
		for _, c := range centred {
			at = append(at, c[b])
		}
		levels[b], _ = average(at)
	}
	median := stats.Median(levels)
	for b := range levels {
		levels[b] -= median
	}
	return levels
}

// average is the mean of what is there, NaN for nothing, and how much is.
func average(x []float64) (mean float64, n int) {
	sum := 0.0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n), n
}

// summarize works out the series' numbers from its levels.
func (d *Drift) summarize(levels []float64) {
	x := slices.DeleteFunc(slices.Clone(levels), math.IsNaN)
	n := len(x)
	if n < 3 {
		return
	}
	var thirds []float64
	for i := range 3 {
		thirds = append(thirds, stats.Median(x[i*n/3:(i+1)*n/3]))
	}
	d.Swing = number(shown(d.Scale, slices.Max(thirds)-slices.Min(thirds)))
	d.Halves = number(shown(d.Scale, stats.Median(x[(n+1)/2:])-stats.Median(x[:n/2])))
	d.Correlation = number(kendall(x))
}

// warnOfDrift tells of the series that drifted most, where one did by far more
// than matters.
func (r *Report) warnOfDrift() {
	var worst *Drift
	more := 0
	for i := range r.Drift {
		d := &r.Drift[i]
		if !d.Real() || !(value(d.Swing) > byFar*d.Margin) {
			continue
		}
		more++
		if worst == nil || *d.Swing/d.Margin > *worst.Swing/worst.Margin {
			worst = d
		}
	}
	if worst == nil {
		return
	}
	text := fmt.Sprintf("%s %s drifted by %s between thirds of the run, in all variants alike; blocks keep that out of the changes, but not out of the figures themselves",
		worst.Name(), worst.Metric, worst.Amount(*worst.Swing))
	if more > 1 {
		text += fmt.Sprintf(" (%d more did)", more-1)
	}
	r.warn(result.Warning{Code: "drift", Text: text,
		Advice: "let the machines settle before a run, fix their frequency, and keep other programs off them"})
}

// Amount writes a difference of levels: "4.1%", or in the series' unit.
func (d *Drift) Amount(v float64) string {
	if d.Scale == Percent {
		return relative(v) + "%"
	}
	return unit.Format(v, d.Unit)
}
