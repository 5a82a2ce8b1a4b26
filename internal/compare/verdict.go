package compare

import (
	"math"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// familyLevel is the chance of one false alarm or more in a whole report in
// which nothing differs.
const familyLevel = 0.05

// margin is the smallest shift that matters, on the scale of the row's shift.
//
// A relative change is held against the plan's margin in percent, and a share
// (loss) against the same number as an absolute share: 2% is 0.02. A count per
// second (retransmits) is held against that part of the baseline, but never
// against less than one a second or one a window: a single event more is not
// a change of the path.
func margin(plan *spec.Plan, d result.Definition, baseline float64) float64 {
	switch {
	case d.Scale == Percent:
		return percentOf(plan.Margin)
	case d.Unit == unit.Share:
		return plan.Margin
	}
	least := math.Max(1, 1/plan.Window.Seconds())
	if part := plan.Margin * baseline; part > least {
		return part
	}
	return least
}

// percentOf turns a share into percent without the noise of binary fractions:
// 0.07 is 7, not 7.000000000000001.
func percentOf(share float64) float64 { return math.Round(share*1e11) / 1e9 }

// judge gives the row its verdict.
//
//  1. Fewer blocks than can reach 5%: unsure.
//  2. The interval lies inside the margin: same, and real if it leaves out zero.
//  3. The family's p is below 5%: better or worse, by the estimate's sign.
//  4. Else unsure, with the blocks that would be needed.
//
// rows is the size of the family.
func (r *row) judge(rows int) {
	est, lo, hi := r.Shift()
	r.Verdict = Unsure
	switch {
	case r.hopeless:
	case r.N < spec.MinBlocks:
		r.BlocksNeeded = spec.MinBlocks
	case lo > -r.Margin && hi < r.Margin:
		r.Verdict = Same
		r.Real = lo > 0 || hi < 0
	case value(r.PAdj) < familyLevel && est != 0:
		r.Verdict = Worse
		if (est < 0) == (r.Better == result.Lower) {
			r.Verdict = Better
		}
	default:
		r.BlocksNeeded = r.needed(rows)
	}
}

// needed is at least one block more than there are: those have settled
// nothing. The margin goes to the scale of the differences.
func (r *row) needed(rows int) int {
	m := r.Margin
	if r.Scale == Percent {
		m = math.Log1p(r.Margin / 100)
	}
	n := stats.Needed(r.differences, m, rows)
	if n == 0 {
		return 0
	}
	return max(n, r.N+1)
}
