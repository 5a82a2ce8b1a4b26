package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/summary"
	"netdelta/internal/unit"
)

// mostRuns is how many runs, the newest, a list or a trend shows.
const mostRuns = 500

// figureCache keeps the figures of runs that are over: they never change, and a trend
// needs those of hundreds.
type figureCache struct {
	mu sync.Mutex
	of map[string][]summary.Figure
}

func newFigureCache() *figureCache { return &figureCache{of: map[string][]summary.Figure{}} }

// figuresOf are a run's figures.
func (s *site) figuresOf(ctx context.Context, r result.Run) ([]summary.Figure, error) {
	s.figures.mu.Lock()
	known, ok := s.figures.of[r.ID]
	s.figures.mu.Unlock()
	if ok {
		return known, nil
	}
	k, err := s.withTrials(ctx, r)
	if err != nil {
		return nil, err
	}
	figures := summary.Build(k.Run, k.Trials).Figures
	if r.State != result.Running {
		s.figures.mu.Lock()
		s.figures.of[r.ID] = figures
		s.figures.mu.Unlock()
	}
	return figures, nil
}

// metricKey is what a trend is of: one metric of one test, at one end, under one
// variant.
type metricKey struct {
	Test, Under, Metric, End string
}

func keyOf(f *summary.Figure) metricKey {
	return metricKey{f.TestOf().String(), f.Under, f.Metric, f.End}
}

// point is one run's figure in a trend.
type point struct {
	run    result.Run
	kernel string
	median float64
	lo, hi *float64
	n      int
	unit   unit.Unit
}

// trendOf are the figures of one metric over runs, the oldest first.
func (s *site) trendOf(ctx context.Context, runs []result.Run, key metricKey) ([]point, error) {
	var all []point
	for _, r := range runs {
		figures, err := s.figuresOf(ctx, r)
		if err != nil {
			return nil, err
		}
		for i := range figures {
			f := &figures[i]
			if keyOf(f) == key && f.Median != nil {
				all = append(all, point{run: r, kernel: kernelOf(r), median: *f.Median, lo: f.Lo, hi: f.Hi, n: f.N, unit: f.Unit})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b point) int { return a.run.Start.Compare(b.run.Start) })
	return all, nil
}

// keysOf are the metrics that runs have, by test, those that stand for it first.
func (s *site) keysOf(ctx context.Context, runs []result.Run) ([]metricKey, error) {
	type ranked struct {
		metricKey
		rank result.Rank
	}
	var all []ranked
	seen := map[metricKey]bool{}
	for _, r := range runs {
		figures, err := s.figuresOf(ctx, r)
		if err != nil {
			return nil, err
		}
		for i := range figures {
			f := &figures[i]
			if k := keyOf(f); !seen[k] && f.Median != nil {
				seen[k] = true
				all = append(all, ranked{k, f.Rank()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		if c := strings.Compare(a.Test+" "+a.Under, b.Test+" "+b.Under); c != 0 {
			return c
		}
		return int(a.rank) - int(b.rank)
	})
	keys := make([]metricKey, len(all))
	for i, k := range all {
		keys[i] = k.metricKey
	}
	return keys, nil
}

// kernelOf is the kernel of a run's ends: both where they differ.
func kernelOf(r result.Run) string {
	var kernels []string
	for _, e := range r.Environments {
		for _, f := range e.Facts {
			if f.Name == "kernel" && !slices.Contains(kernels, f.Value) {
				kernels = append(kernels, f.Value)
			}
		}
	}
	if len(kernels) == 0 {
		return "not told"
	}
	return strings.Join(kernels, ", ")
}

// when writes a time for people, in UTC.
func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
