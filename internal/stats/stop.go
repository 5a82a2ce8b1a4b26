package stats

import "math"

// StoppedLevel is the confidence at which intervals are computed, and 1 less it
// the level at which p is read, in a run that may stop by precision, so that
// what is concluded keeps its 95% and 5% whatever number of blocks it stops at.
//
// A run that stops when the interval is narrow stops more often when the spread
// happens to look small, so at the stop intervals are too short: those of 95%
// cover in 93 to 94%, or in 90% where differences are very skew. No choice of
// looks mends that, nor do further blocks after the first hit, unless they
// outnumber the others by far. A wider interval does, for some 22% more blocks.
const StoppedLevel = 0.97

const (
	// firstLook is the fewest blocks at which a run can stop: with 7 an interval
	// of StoppedLevel exists, and the first look should not have it at its widest.
	firstLook = 8
	// lookGrowth is by how much the blocks grow from look to look.
	lookGrowth = 1.25
)

// NextLook returns the number of blocks at which a run that stops by precision
// is looked at next, when n blocks are complete: the looks are at 8, 10, 13, 17,
// 22, 28, 35, 44 and so on. It is always above n.
func NextLook(n int) int {
	look := firstLook
	for look <= n {
		look = int(math.Ceil(lookGrowth * float64(look)))
	}
	return look
}

// Precise says whether paired differences reach a precision: whether the
// interval at StoppedLevel of their centre reaches no further than half from
// its estimate, to either side. d is a row's differences in the order of the
// blocks, all complete ones, and half is on the same scale: for a precision of
// 2% and differences of logarithms ln(1.02). It is meant for the numbers of
// blocks that NextLook gives; a run stops at the first at which every row that
// matters is precise.
//
// Fewer than 8 differences are never precise, nor is anything for a half that
// is not above 0. What is then told of the run must be computed at StoppedLevel
// too: intervals directly, and p, or the family's, against 1 - StoppedLevel.
// That holds as well for a run that could have stopped but came to its limit.
func Precise(d []float64, half float64) bool {
	f := finite(d)
	if len(f) < firstLook || !(half > 0) {
		return false
	}
	in := SignedRank(f, StoppedLevel)
	return in.Est-in.Lo <= half && in.Hi-in.Est <= half
}
