package spec

import (
	"math"
	"time"
)

// Costs are what a run needs beside the warm-ups and windows of its trials.
type Costs struct {
	// Trial is for each trial: workers start, bind, connect, and end.
	Trial time.Duration
	// Slot is for each visit of a variant: a path that is made for it, and what is
	// changed for it until the host is ready again.
	Slot time.Duration
}

// UsualCosts are what was measured on a two-CPU machine: about 45 ms a trial.
// What a change of settings takes is a property of the device, from nothing to
// seconds for a link that goes down and comes back, and is not in it.
var UsualCosts = Costs{Trial: 45 * time.Millisecond}

// Estimate is how long a plan takes.
type Estimate struct {
	// Trials, Slots and Plots are numbers in all. Slots are visits of variants:
	// those beside, which make nothing, are not among them.
	Trials, Slots, Plots int
	// Block is one block's time. Total is that of all of them, or what the plan's
	// limit leaves of it: the block that is under way then is finished.
	Block, Total time.Duration
}

// Takes estimates how long a valid plan takes. A test that ends its windows
// before their time, by count or bytes, takes less.
func (p *Plan) Takes(c Costs) Estimate {
	plots := 1
	if p.countVariants() <= MaxTrials {
		plots = len(p.plots())
	}
	slots := p.countVariants()
	e := Estimate{Trials: p.Trials(), Slots: p.Blocks * slots, Plots: p.Blocks * plots}
	trial := plus(p.Warmup+p.Window, c.Trial)
	e.Block = plus(times(slots, c.Slot), times(slots*len(p.Tests)+p.besideEach(), trial))
	e.Total = times(p.Blocks, e.Block)
	if p.Limit > 0 {
		e.Total = min(e.Total, plus(p.Limit, e.Block))
	}
	return e
}

// times is n times d, and plus a and b, or the longest duration there is. None of
// them is below 0.
func times(n int, d time.Duration) time.Duration {
	if n == 0 || d == 0 {
		return 0
	}
	return time.Duration(product(int64(n), int64(d)))
}

func plus(a, b time.Duration) time.Duration {
	return a + min(b, math.MaxInt64-a)
}
