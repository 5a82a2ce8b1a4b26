package compare

import (
	"math"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// familyLevel is the chance of one false alarm or more in a whole report in
// which nothing differs.
const familyLevel = 0.05

// margin is the smallest shift that matters, on the scale of the row's shift;
// share is the relative change that matters and window the trials' length.
//
// A relative change is held against the share in percent, and a share (loss)
// against the same number as an absolute share: 2% is 0.02; so is time per second
// (run_delay). Events for each round trip are held against that part of the
// baseline, but never against less than 2 with a hundred of them; those for each
// packet, of which there is one for many, never against less than 2 with a
// thousand. A count per second (retransmits) is held against that part of the baseline, but never against
// less than one a second or one a window: a single event more is not a change
// of the path.
func margin(share float64, window time.Duration, d result.Definition, baseline float64) float64 {
	switch {
	case d.Scale == Percent:
		return percentOf(share)
	case d.Unit == unit.Share || d.Unit == unit.SecondsPerSecond:
		return share
	case d.Unit == unit.PerOp:
		return notBelow(share, share*baseline)
	case d.Unit == unit.PerPacket:
		return notBelow(share/10, share*baseline)
	}
	least := 1.0
	if window > 0 {
		least = math.Max(1, 1/window.Seconds())
	}
	if part := share * baseline; part > least {
		return part
	}
	return least
}

// notBelow is v, but at least least, and least if v is not known.
func notBelow(least, v float64) float64 {
	if v > least {
		return v
	}
	return least
}

// percentOf turns a share into percent without the noise of binary fractions:
// 0.07 is 7, not 7.000000000000001.
func percentOf(share float64) float64 { return math.Round(share*1e11) / 1e9 }

// judge gives the row its verdict.
//
//  1. Fewer blocks than can reach the level: unsure.
//  2. As decide says.
//  3. Else unsure, with the blocks that would be needed.
//
// rows is the size of the family.
func (r *row) judge(rows int, level float64) {
	r.Verdict = Unsure
	fewest := stats.FewestPairs(1 - level)
	switch {
	case r.hopeless:
	case r.N < fewest:
		r.BlocksNeeded = r.blocksFor(fewest)
	case !r.decideAt(level):
		r.BlocksNeeded = r.needed(rows, level)
	}
}

// decide gives the verdict that the row's interval and the family's p bear,
// and says false where they bear none.
//
//  1. The interval lies inside the margin: same, and real if it leaves out zero.
//  2. The family's p is below 5%: better or worse, by the estimate's sign.
func (c *Comparison) decide() bool { return c.decideAt(familyLevel) }

// decideAt is decide with another level than 5%.
func (c *Comparison) decideAt(level float64) bool {
	est, lo, hi := c.Shift()
	switch {
	case lo > -c.Margin && hi < c.Margin:
		c.Verdict = Same
		c.Real = lo > 0 || hi < 0
	case value(c.PAdj) < level && est != 0:
		c.Verdict = Worse
		if (est < 0) == (c.Better == result.Lower) {
			c.Verdict = Better
		}
	default:
		return false
	}
	return true
}

// needed is at least one block more than there are: those have settled
// nothing. The margin goes to the scale of the differences.
func (r *row) needed(rows int, level float64) int {
	n := stats.Needed(r.differences, r.linkedMargin(), rows, 1-level)
	if n == 0 {
		return 0
	}
	return r.blocksFor(max(n, r.N+1))
}

// blocksFor is how many blocks give that many differences, if as many of them
// lack the row's figure as of those that have run.
func (r *row) blocksFor(n int) int {
	if r.N == 0 || r.ran <= r.N {
		return n
	}
	return min((n*r.ran+r.N-1)/r.N, stats.MaxNeeded)
}

// linkedMargin is the margin on the scale of the differences.
func (c *Comparison) linkedMargin() float64 {
	if c.Scale == Percent {
		return math.Log1p(c.Margin / 100)
	}
	return c.Margin
}
