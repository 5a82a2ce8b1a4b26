package compare

import (
	"fmt"
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// cell is what one trial gave.
type cell struct {
	attempt  int
	order    int // place in the order in which trials ran
	figures  map[result.Taken]float64
	told     map[result.Taken]bool // figures, and those with a reason to lack
	counters map[counter]float64
	drops    map[counter]float64 // datagrams that the two hosts' counters have
	several  bool                // those are packets: of parts, or of many
	warnings []noted
	// imported are the metrics of a trial that another program made.
	imported []result.Definition
	posted   *result.Imported // all of it
	// uncounted are the reasons for what told has not.
	uncounted []result.Warning
	held      map[string]*result.Held // of goodput, by the end that received
}

// figure is a metric of the trial; NaN where the trial or the metric is
// missing.
func (c *cell) figure(metric result.Taken) float64 {
	if c != nil {
		if v, ok := c.figures[metric]; ok {
			return v
		}
	}
	return math.NaN()
}

// grid has the plan's trials by test, variant and block; nil where a trial is
// missing.
type grid struct {
	plan     *spec.Plan
	variants []spec.Variant
	under    [][]spec.Test // the plan's tests as each variant runs them
	// condition is the levels of conditions that it is within, as Comparison.Under
	// has them, and at are its variants' places in the whole grid: both empty there.
	condition string
	at        []int
	cells     [][][]*cell
	trials    int
	complete  int // blocks in which every trial is there
	common    common
}

// newGrid sorts trials into the plan's crossing. Of several attempts at a
// trial the last counts.
func newGrid(plan *spec.Plan, trials []result.Trial) (*grid, error) {
	g := &grid{plan: plan, variants: ran(plan), cells: make([][][]*cell, len(plan.Tests))}
	index := map[string]int{}
	for i, v := range g.variants {
		index[v.Key(plan.Factors)] = i
	}
	var err error
	if g.under, err = testsUnder(plan, g.variants); err != nil {
		return nil, err
	}
	for t := range g.cells {
		g.cells[t] = make([][]*cell, len(g.variants))
		for v := range g.cells[t] {
			g.cells[t][v] = make([]*cell, plan.Blocks)
		}
	}
	for i := range trials {
		x := &trials[i]
		v, ok := index[x.Variant.Key(plan.Factors)]
		if !ok || len(x.Variant) != len(plan.Factors) {
			return nil, fmt.Errorf("trial %d has variant %v, which is none of the plan's %d", x.Order, x.Variant, len(g.variants))
		}
		t := slices.Index(g.under[v], x.Test)
		if t < 0 {
			return nil, fmt.Errorf("trial %d has test %q, which is not in the plan", x.Order, x.Test)
		}
		if x.Block < 0 || x.Block >= plan.Blocks {
			return nil, fmt.Errorf("trial %d is of block %d, and the plan has 0 to %d", x.Order, x.Block, plan.Blocks-1)
		}
		at := &g.cells[t][v][x.Block]
		switch {
		case *at == nil:
			g.trials++
		case (*at).attempt == x.Attempt:
			return nil, fmt.Errorf("%q of %s in block %d is there twice: each trial counts once",
				x.Test, x.Variant.Key(plan.Factors), x.Block)
		case (*at).attempt > x.Attempt:
			continue
		}
		*at = newCell(x)
	}
	g.complete = g.completeBlocks()
	g.common = commonTo(g.reported(), g.sides)
	return g, nil
}

// testsUnder are the plan's tests as each variant runs them.
func testsUnder(plan *spec.Plan, variants []spec.Variant) ([][]spec.Test, error) {
	all := make([][]spec.Test, len(variants))
	for i, v := range variants {
		for t, test := range plan.Tests {
			of, err := plan.TestUnder(v, test)
			if err != nil {
				return nil, fmt.Errorf("test %q under %s: %w", test, v.Key(plan.Factors), err)
			}
			if n := slices.Index(all[i], of); n >= 0 {
				return nil, fmt.Errorf("tests %q and %q are the same test under %s, so their trials can't be told apart: name one of them",
					plan.Tests[n], plan.Tests[t], v.Key(plan.Factors))
			}
			all[i] = append(all[i], of)
		}
	}
	return all, nil
}

func newCell(x *result.Trial) *cell {
	of := x.Reduce()
	c := &cell{attempt: x.Attempt, order: x.Order, figures: make(map[result.Taken]float64, len(of.Metrics)),
		counters: countersOf(x), warnings: note(of.Warnings), held: heldOf(x), told: of.Told, uncounted: of.Uncounted}
	for _, m := range of.Metrics {
		c.figures[m.Taken()] = m.Value
	}
	return c.tells(x)
}

func (g *grid) completeBlocks() int {
	n := 0
	for b := range g.plan.Blocks {
		complete := true
		for _, variants := range g.cells {
			for _, blocks := range variants {
				complete = complete && blocks[b] != nil
			}
		}
		if complete {
			n++
		}
	}
	return n
}

// expected is how many trials a run has that is whole: those of all blocks, or of
// the blocks that were begun where something ended it in good order.
func (g *grid) expected(ended string) int {
	blocks := g.plan.Blocks
	if ended != "" {
		for blocks > 0 && !g.begun(blocks-1) {
			blocks--
		}
	}
	return blocks * len(g.variants) * len(g.plan.Tests)
}

// begun says whether a block has any trial.
func (g *grid) begun(block int) bool {
	for _, variants := range g.cells {
		for _, blocks := range variants {
			if blocks[block] != nil {
				return true
			}
		}
	}
	return false
}

// each calls f with every trial that is there, of one test and some variants.
func (g *grid) each(test int, variants []int, f func(*cell)) {
	for b := range g.plan.Blocks {
		for _, v := range variants {
			if c := g.cells[test][v][b]; c != nil {
				f(c)
			}
		}
	}
}

// reported returns every trial that is there.
func (g *grid) reported() []reported {
	var all []reported
	for t, test := range g.plan.Tests {
		for v := range g.variants {
			g.each(t, []int{v}, func(c *cell) { all = append(all, reported{test, g.named(v), c}) })
		}
	}
	return all
}
