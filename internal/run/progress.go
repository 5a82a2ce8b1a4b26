package run

import (
	"time"

	"netdelta/internal/spec"
)

// Progress is where a run is.
type Progress struct {
	Done, Total   int // trials
	Block, Blocks int // the block under way, from 0, and how many there are
	// Variant and Test are what runs next, as "rx=kthread" and "udp_rr
	// size=1"; empty when all is done, and Variant where nothing varies and for a
	// test beside.
	Variant, Test string
	Attempt       int // from 1
	Elapsed       time.Duration
	Left          time.Duration // an estimate
	AtMost        bool          // Left is the most: reaching a precision may end the run before
}

// firstGuess is what a trial is thought to cost beside its warm-up and
// window, until one has been measured.
const firstGuess = 100 * time.Millisecond

// each estimates what a trial takes. length is its warm-up and window; all that
// the finished ones took beyond it, making paths and repeating included, is
// spread over them.
func each(ran int, elapsed, length time.Duration) time.Duration {
	if ran == 0 {
		return length + firstGuess
	}
	return max(length, elapsed/time.Duration(ran))
}

// within is how much of the trials' time is left of what lies before the limit: a
// block that has begun by then is finished. inBlock and block are the time that
// the block under way still takes and that of a whole one; a limit of 0 is none.
func within(limit, elapsed, all, inBlock, block time.Duration) time.Duration {
	if limit == 0 || block <= 0 {
		return all
	}
	more := time.Duration(0) // blocks that begin before the limit
	if before := limit - elapsed - inBlock; before >= 0 {
		more = before/block + 1
	}
	return min(all, inBlock+more*block)
}

func (r *runner) report(slot spec.Slot, test string, attempt int) {
	if r.Progress == nil {
		return
	}
	p := Progress{
		Done:    r.done,
		Total:   r.Plan.Trials(),
		Block:   slot.Block,
		Blocks:  r.Plan.Blocks,
		Test:    test,
		Attempt: attempt,
		Elapsed: time.Since(r.began),
	}
	if test != "" {
		one := each(r.done-r.earlier, p.Elapsed, r.Plan.Warmup+r.Plan.Window)
		times := func(trials int) time.Duration { return time.Duration(trials) * one }
		if !slot.Beside {
			p.Variant = slot.Variant.Key(r.Plan.Factors)
		}
		p.AtMost = r.Plan.Precision > 0
		p.Left = within(r.Plan.Limit, p.Elapsed, times(p.Total-p.Done), times(r.inBlock), times(p.Total/p.Blocks))
	}
	r.Config.Progress(p)
}
