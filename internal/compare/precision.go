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

// How a run came to its end, beside having run all blocks.
const (
	// EndedPrecision: the precision that the plan asks for was reached.
	EndedPrecision = "precision"
	// EndedTime: the plan's limit of time was over.
	EndedTime = "time"
)

// Precision says how near a run under way is to the precision that its plan
// asks for.
type Precision struct {
	// Reached says that the run may stop.
	Reached bool
	// Widest is the largest half-width of the intervals that matter, as a share
	// (0.02 is 2%), and Of names its row; 0 and empty before there are any.
	Widest float64
	Of     string
	// Next is the number of complete blocks at which to ask again.
	Next int
}

// PrecisionOf looks at the trials of the plan's complete blocks so far. The plan
// is valid and has a Precision.
//
// The rows that matter are main effects: of the metrics that the plan names, or
// else of those that stand for the tests. Interactions are not waited for: their
// intervals are twice as wide and more. Nor is a row that more blocks can't help,
// since its figure is missing or zero.
func PrecisionOf(plan spec.Plan, trials []result.Trial) (Precision, error) {
	plan.Tests, plan.Beside = slices.Clone(plan.Tests), slices.Clone(plan.Beside)
	plan = plan.WithoutWatched()
	trials, _ = result.Unwatched(trials)
	if err := plan.Validate(); err != nil {
		return Precision{}, fmt.Errorf("compare: %w", err)
	}
	if err := CheckMetrics(&plan); err != nil {
		return Precision{}, fmt.Errorf("compare: %w", err)
	}
	own, _ := apart(&plan, trials)
	g, err := newGrid(&plan, own)
	if err != nil {
		return Precision{}, fmt.Errorf("compare: %w", err)
	}
	parts := g.within()
	mains, _, _, _ := effectsOf(parts[0].plan, parts[0].variants)
	return g.precision(rowsWithin(parts, mains)), nil
}

// precision is that of the rows that matter.
func (g *grid) precision(rows []*row) Precision {
	p := Precision{Next: stats.NextLook(g.complete)}
	_, compared := spec.Split(g.plan.Factors)
	any, all := false, true
	for _, r := range rows {
		if r.hopeless || !g.matters(r) {
			continue
		}
		any = true
		half := g.allowed(r)
		all = all && stats.Precise(r.differences, half)
		if width := g.width(r, half); width > p.Widest {
			p.Widest, p.Of = width, r.called(len(compared) > 1)
		}
	}
	p.Reached = any && all && g.complete >= spec.MinBlocks
	return p
}

// matters says whether the run goes on for the row.
func (g *grid) matters(r *row) bool {
	if g.plan.Metrics == nil {
		return r.Rank() == result.Headline
	}
	return r.Rank() != result.Detail
}

// allowed is the half-width that the plan allows the row's interval, on the
// scale of its differences.
func (g *grid) allowed(r *row) float64 {
	if r.Scale == Percent {
		return math.Log1p(g.plan.Precision)
	}
	return margin(g.plan.Precision, g.plan.Window, result.Definition{Scale: r.Scale, Unit: r.Unit}, value(r.A.Median))
}

// width is how far the row's interval reaches from its estimate, as a share; 0
// where there is none. What has a margin in a unit is put as the part of that.
func (g *grid) width(r *row, half float64) float64 {
	s := stats.SignedRank(r.differences, g.confidence())
	if s.Level == 0 {
		return 0
	}
	w := max(s.Hi-s.Est, s.Est-s.Lo)
	if r.Scale == Percent {
		return math.Expm1(w)
	}
	return w / half * g.plan.Precision
}

// called is a row by its test, metric and level.
func (c *Comparison) called(several bool) string {
	level := c.Variant
	if several {
		level = c.Factor + " " + level
	}
	return fmt.Sprintf("%s %s of %s", c.Name(), c.Metric, level)
}

// setPrecision tells how near the run came to what its plan asks for, and how it
// ended.
func (r *Report) setPrecision(g *grid, mains []*row, ended string) {
	r.Ended = ended
	if g.plan.Precision == 0 {
		return
	}
	p := g.precision(mains)
	r.WidestPct, r.WidestOf = percentOf(p.Widest), p.Of
	if ended == EndedPrecision || p.Reached {
		return
	}
	why := fmt.Sprintf("all %s were run", unit.Count(r.Planned, "block"))
	switch {
	case ended == EndedTime:
		why = "the time was over"
	case r.Partial:
		why = "the run ended early"
	}
	text := fmt.Sprintf("a precision of %g%% was not reached before %s", r.PrecisionPct, why)
	if p.Of != "" {
		text += fmt.Sprintf(": the interval of %s reaches %s%% from its estimate", p.Of, relative(100*p.Widest))
	}
	r.warn(result.Warning{Code: "not-precise", Text: text, Advice: "more blocks, a longer limit, or longer windows"})
}
