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
	// size=1"; empty when all is done, and Variant where nothing varies.
	Variant, Test string
	Attempt       int // from 1
	Elapsed       time.Duration
	Left          time.Duration // an estimate
}

// firstGuess is what a trial is thought to cost beside its warm-up and
// window, until one has been measured.
const firstGuess = 100 * time.Millisecond

// left estimates the time that remains. length is a trial's warm-up and
// window; all that the finished ones took beyond it, making paths and
// repeating included, is spread over them.
func left(done, total int, elapsed, length time.Duration) time.Duration {
	overhead := firstGuess
	if done > 0 {
		overhead = max(0, elapsed/time.Duration(done)-length)
	}
	return time.Duration(total-done) * (length + overhead)
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
		p.Variant = slot.Variant.Key(r.Plan.Factors)
	}
	p.Left = left(p.Done, p.Total, p.Elapsed, r.Plan.Warmup+r.Plan.Window)
	r.Config.Progress(p)
}
