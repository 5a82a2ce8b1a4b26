package compare

import (
	"math"

	"netdelta/internal/result"
	"netdelta/internal/stats"
)

// Spread says how far the runs of one side lie apart, against the trials
// within a run: standard deviations in the shift's scale, percent or the
// metric's unit. Trials of one run are no independent evidence where what
// varies is the run, as from boot to boot.
type Spread struct {
	// RunsA and RunsB are the runs that have figures.
	RunsA int `json:"runs_a"`
	RunsB int `json:"runs_b"`
	// BetweenA and BetweenB are those of the runs' medians; null for a side of
	// one run. WithinA and WithinB are those of the trials around their own
	// run's mean; null where no run has two trials.
	BetweenA *float64 `json:"between_a"`
	WithinA  *float64 `json:"within_a"`
	BetweenB *float64 `json:"between_b"`
	WithinB  *float64 `json:"within_b"`
}

// Wide says whether the runs of a side differ more than the trials within a
// run.
func (s *Spread) Wide() bool {
	wide := func(between, within *float64) bool { return value(between) > value(within) }
	return s != nil && (wide(s.BetweenA, s.WithinA) || wide(s.BetweenB, s.WithinB))
}

// setSpread compares the runs of each side, if one has several.
func (r *unpaired) setSpread(m *match, l link) {
	s := &Spread{}
	s.RunsA, s.BetweenA, s.WithinA = r.spread(m.cells[0], l)
	s.RunsB, s.BetweenB, s.WithinB = r.spread(m.cells[1], l)
	if s.RunsA < 2 && s.RunsB < 2 {
		return
	}
	r.Spread = s
	if s.Wide() {
		r.Warnings = append(r.Warnings, result.Warning{Code: "run-spread",
			Text:   "runs of one side differ more than the trials within a run, so p and interval, which take each trial as independent, promise too much",
			Advice: "take a verdict here as one between these runs only; compare more runs of each side"})
	}
}

func (r *unpaired) spread(runs [][]*cell, l link) (n int, between, within *float64) {
	var medians []float64
	var figures [][]float64
	for _, trials := range runs {
		if f := linked(figuresOf(trials, r.taken()), l); len(f) > 0 {
			medians = append(medians, stats.Median(f))
			figures = append(figures, f)
		}
	}
	scaled := func(sd float64) *float64 {
		if r.Scale == Percent {
			sd = 100 * math.Expm1(sd)
		}
		return number(sd)
	}
	return len(medians), scaled(pooled(medians)), scaled(pooled(figures...))
}
