package spec

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// NoPlot is the plot of a slot beside.
const NoPlot = -1

// besideEach is how many of the tests beside run in each block: as many as it takes
// for each to run in MinBlocks blocks, and at most all.
func (p *Plan) besideEach() int {
	n := len(p.Beside)
	if n == 0 || p.Blocks < 1 {
		return 0
	}
	return min(n, (n*MinBlocks+p.Blocks-1)/p.Blocks)
}

// besides shares the tests beside out to blocks: in one random order, round and
// round, so that each comes again after the same number of blocks, or one more.
type besides struct {
	rng   *rand.Rand
	tests []Test
	each  int  // of a block
	next  int  // which of the tests
	whole bool // plots are not to be broken
}

func (p *Plan) newBesides() *besides {
	// Numbers of its own, so that the order of the variants is the same without.
	b := &besides{rng: rand.New(rand.NewPCG(p.Seed, 0x626573696465)), tests: slices.Clone(p.Beside), each: p.besideEach()}
	b.rng.Shuffle(len(b.tests), func(i, j int) { b.tests[i], b.tests[j] = b.tests[j], b.tests[i] })
	b.whole = slices.ContainsFunc(p.Factors, func(f Factor) bool { return f.Slow })
	return b
}

// into puts the block's slot beside between those from first on, which are all the
// others of the block.
func (b *besides) into(slots []Slot, first, block int) []Slot {
	if b.each == 0 {
		return slots
	}
	tests := make([]Test, b.each)
	for i := range tests {
		tests[i] = b.tests[b.next]
		b.next = (b.next + 1) % len(b.tests)
	}
	b.rng.Shuffle(len(tests), func(i, j int) { tests[i], tests[j] = tests[j], tests[i] })
	var places []int
	for i := first; i <= len(slots); i++ {
		if !b.whole || i == first || i == len(slots) || slots[i-1].Plot != slots[i].Plot {
			places = append(places, i)
		}
	}
	at := places[b.rng.IntN(len(places))]
	return slices.Insert(slots, at, Slot{Block: block, Plot: NoPlot, Tests: tests, Beside: true})
}

// validateBeside is about the tests beside, and fills in their defaults.
func (p *Plan) validateBeside() error {
	for i := range p.Beside {
		t := &p.Beside[i]
		where := at("beside", fmt.Sprint(i))
		if err := t.complete(); err != nil {
			return within(err, where...)
		}
		switch {
		case t.Kind().Pattern != Wake:
			return faultAt(where, "test %q can't run beside a plan: it needs a path, which is a variant's; wake needs none", t)
		case slices.Contains(p.Beside[:i], *t):
			return faultAt(where, "test %q is named twice beside the plan", t)
		case slices.Contains(p.Tests, *t):
			return faultAt(where, "test %q is one of the plan's tests and beside them too: name it once", t)
		}
	}
	return nil
}

// KeepsEach says that the test's round trips can be kept one by one: it has some,
// of one flow that asks one thing at a time or at a fixed rate.
func (t Test) KeepsEach() bool { return t.hasRoundTrips() && t.Flows() == 1 && t.Burst() == 1 }

func (t Test) hasRoundTrips() bool { return t.Kind().Name != "" && !t.Kind().IsStream() }

// validateEach is about keeping round trips one by one. Tests without any keep none.
func (p *Plan) validateEach() error {
	if p.Each < 0 || p.Each > MaxEach {
		return faultAt(at("each"), "each %d is out of range: 0 (none) to %d round trips of a window", p.Each, MaxEach)
	}
	if p.Each == 0 {
		return nil
	}
	some := false
	for i, t := range p.Tests {
		if err := p.checkEach(t); err != nil {
			return within(err, "tests", fmt.Sprint(i))
		}
		some = some || t.KeepsEach()
	}
	if !some {
		return faultAt(at("each"), "each has nothing to keep: no test of the plan has round trips")
	}
	return nil
}

// checkEach is about one test, as a variant runs it.
func (p *Plan) checkEach(t Test) error {
	if p.Each == 0 || t.KeepsEach() || !t.hasRoundTrips() {
		return nil
	}
	return fmt.Errorf("test %q has many round trips at a time, and each keeps those of one flow without burst, one after the other: leave out each, or flows and burst", t)
}
