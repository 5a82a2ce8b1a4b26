package run

import (
	"context"
	"fmt"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Ending is why a run ended in good order.
type Ending int

const (
	// EndedWhole: every trial of the plan is finished.
	EndedWhole Ending = iota
	// EndedEnough: Config.Enough said so, be it after the last block.
	EndedEnough
	// EndedLimit: the plan's limit of time was over.
	EndedLimit
)

// place is where a trial belongs in a plan.
type place struct {
	block   int
	variant string // its key
	test    spec.Test
}

// remaining is the schedule without the trials that are there already, by blocks,
// with the tests as each variant runs them. A slot or block of which nothing is
// left is empty.
func (r *runner) remaining() ([][]spec.Slot, error) {
	earlier := map[place]bool{}
	for _, t := range r.Done {
		earlier[r.placeOf(t)] = true
		r.order = max(r.order, t.Order+1)
	}
	blocks := make([][]spec.Slot, r.Plan.Blocks)
	found := map[place]bool{}
	for _, slot := range r.Plan.Schedule() {
		var left []spec.Test
		for _, t := range slot.Tests {
			real, err := r.testIn(slot, t)
			if err != nil {
				return nil, err
			}
			at := place{slot.Block, r.keyOf(slot.Variant), real}
			if earlier[at] {
				found[at] = true
				r.done++
				continue
			}
			left = append(left, real)
		}
		if len(left) > 0 {
			slot.Tests = left
			blocks[slot.Block] = append(blocks[slot.Block], slot)
		}
	}
	for _, t := range r.Done {
		if at := r.placeOf(t); !found[at] && !r.wasBeside(t) {
			return nil, fmt.Errorf("run: a trial of the part that is done is none of this plan's: block %d, %s, %s", at.block+1, at.variant, at.test)
		}
	}
	r.earlier = r.done
	return blocks, nil
}

func (r *runner) placeOf(t result.Trial) place {
	return place{t.Block, r.keyOf(t.Variant), t.Test}
}

// keyOf is the variant's key; empty for that of a test beside, which is none.
func (r *runner) keyOf(v spec.Variant) string {
	if len(v) == 0 {
		return ""
	}
	return v.Key(r.Plan.Factors)
}

// blocks runs what is left of each block, and asks after each whether that is
// enough. Every whole one counts, be it of an earlier part.
func (r *runner) blocks(ctx context.Context, blocks [][]spec.Slot) (Ending, error) {
	complete := 0
	for _, slots := range blocks {
		if len(slots) == 0 {
			complete++
		}
	}
	if complete > 0 && r.enough(complete) {
		return EndedEnough, nil
	}
	began := false
	for b, slots := range blocks {
		if len(slots) == 0 {
			continue
		}
		if began && r.Plan.Limit > 0 && time.Since(r.began) > r.Plan.Limit {
			return EndedLimit, nil
		}
		began, r.block, r.inBlock = true, b, 0
		for _, s := range slots {
			r.inBlock += len(s.Tests)
		}
		for _, s := range slots {
			if err := r.slot(ctx, s); err != nil {
				return 0, err
			}
		}
		if complete++; r.enough(complete) {
			return EndedEnough, nil
		}
	}
	return EndedWhole, nil
}

func (r *runner) enough(complete int) bool { return r.Enough != nil && r.Enough(complete) }
