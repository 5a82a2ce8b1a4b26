package cli

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"netdelta/internal/calibrate"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// calibration is one under way: rounds in which each window has some blocks, in
// random order, so that what drifts falls on all windows alike.
type calibration struct {
	asked
	total time.Duration
	seed  uint64
	show  func(run.Progress)

	began time.Time
	parts int
	done  int // trials
	order int
	// of are the series so far, by window, with so many blocks asked for.
	of []calibrate.Series
}

// firstCost is what a trial is thought to cost beside its warm-up and window.
const firstCost = 100 * time.Millisecond

// measured carries a plan out, and returns the trials that were finished.
type measured func(context.Context, spec.Plan, func(run.Progress)) ([]result.Trial, error)

// rounds measures until the time is up, at least one round. A further round is
// begun where it is over in time if it takes as long as the last one.
func (c *calibration) rounds(ctx context.Context, measure measured) error {
	c.began = time.Now()
	for _, w := range c.windows {
		p := c.plan
		p.Window, p.Warmup, p.Blocks, p.Seed = w, windowWarmup(w), 0, c.seed
		c.of = append(c.of, calibrate.Series{Plan: p})
	}
	rng := rand.New(rand.NewPCG(c.seed, 0x63616c6962726174))
	blocks := blocksOf(c.windows)
	for {
		round := time.Now()
		for _, i := range rng.Perm(len(c.windows)) {
			if err := c.part(ctx, i, blocks[i], measure); err != nil {
				return err
			}
		}
		now := time.Now()
		if now.Sub(c.began)+now.Sub(round) > c.total {
			return nil
		}
	}
}

// blocksOf is how many blocks each window has in a round, so that all have about
// the same time: one of the longest.
func blocksOf(windows []time.Duration) []int {
	cost := func(w time.Duration) float64 { return float64(windowWarmup(w) + w + firstCost) }
	longest := 0.0
	for _, w := range windows {
		longest = max(longest, cost(w))
	}
	blocks := make([]int, len(windows))
	for i, w := range windows {
		blocks[i] = max(1, int(math.Round(longest/cost(w))))
	}
	return blocks
}

// part measures some blocks of one window.
func (c *calibration) part(ctx context.Context, window, blocks int, measure measured) error {
	s := &c.of[window]
	p := s.Plan
	p.Blocks, p.Seed = blocks, c.seed+uint64(c.parts)
	c.parts++
	before := c.done
	trials, err := measure(ctx, p, func(now run.Progress) {
		elapsed := time.Since(c.began)
		now.Elapsed, now.Left = elapsed, max(0, c.total-elapsed)
		now.Done += before
		now.Total = now.Done + 1
		if now.Done > 0 {
			now.Total = max(now.Total, int(float64(now.Done)*float64(c.total)/float64(elapsed)))
		}
		now.Variant = ""
		if now.Test != "" {
			now.Test = fmt.Sprintf("%v of %s", p.Window, now.Test)
		}
		c.show(now)
	})
	last := -1
	for i := range trials {
		t := &trials[i]
		last = max(last, t.Order)
		t.Block += s.Plan.Blocks
		t.Order += c.order
	}
	// The next part's trials do not follow right after these.
	c.order += last + 2
	c.done += len(trials)
	s.Plan.Blocks += blocks
	s.Trials = append(s.Trials, trials...)
	return err
}

// series are those that have any trial.
func (c *calibration) series() []calibrate.Series {
	var all []calibrate.Series
	for _, s := range c.of {
		if len(s.Trials) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func (c *calibration) all() []result.Trial {
	var all []result.Trial
	for _, s := range c.of {
		all = append(all, s.Trials...)
	}
	return all
}
