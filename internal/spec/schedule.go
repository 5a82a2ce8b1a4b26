package spec

import (
	"math/rand/v2"
	"slices"
)

// Slot is one visit of a variant within a block: the path is made once and
// every test runs on it, in the order given.
type Slot struct {
	Block int // from 0
	Order int // place within the whole schedule, from 0
	// Plot is the whole plot, from 0 through the whole schedule: slots that follow
	// one another with the same levels of all slow factors, in one block. A slot
	// beside is in none, which NoPlot says.
	Plot    int
	Variant Variant
	Tests   []Test
	// Beside says that the tests are those of Plan.Beside that are this block's;
	// the variant is nil then, and no path is needed.
	Beside bool
}

// Schedule returns the plan's slots: every variant once in each block, blocks
// one after the other, variants in random order within each, tests in one
// random order for each block, so that a block's variants meet their tests
// alike. Where factors are slow, the order is drawn in two steps: that of the
// whole plots, one for each combination of the slow factors' levels, and within
// each that of its variants. Where the plan has tests beside, each block has one
// slot more, of those that are its own, at a random place between the others, but
// never within a plot of several. The same plan and seed always give the same
// schedule, and tests beside change nothing about the order of the others. The
// plan is one that Validate accepts.
func (p *Plan) Schedule() []Slot {
	// A fixed second word keeps this stream apart from others of the same seed.
	rng := rand.New(rand.NewPCG(p.Seed, 0x6e657464656c7461))
	plots := p.plots()
	slots := make([]Slot, 0, max(0, p.Blocks)*(p.countVariants()+1))
	plot := 0
	beside := p.newBesides()
	for b := range p.Blocks {
		first := len(slots)
		tests := slices.Clone(p.Tests)
		rng.Shuffle(len(tests), func(i, j int) { tests[i], tests[j] = tests[j], tests[i] })
		for _, w := range rng.Perm(len(plots)) {
			for _, v := range rng.Perm(len(plots[w])) {
				slots = append(slots, Slot{Block: b, Plot: plot, Variant: plots[w][v], Tests: tests})
			}
			plot++
		}
		slots = beside.into(slots, first, b)
	}
	for i := range slots {
		slots[i].Order = i
	}
	return slots
}

// plots shares the variants out to whole plots: those of one have the same level
// of each slow factor. Without slow factors all are one.
func (p *Plan) plots() [][]Variant {
	var slow []Factor
	for _, f := range p.Factors {
		if f.Slow {
			slow = append(slow, f)
		}
	}
	var plots [][]Variant
	of := map[string]int{}
	for _, v := range p.Variants() {
		key := v.Key(slow)
		i, known := of[key]
		if !known {
			i = len(plots)
			of[key] = i
			plots = append(plots, nil)
		}
		plots[i] = append(plots[i], v)
	}
	return plots
}
