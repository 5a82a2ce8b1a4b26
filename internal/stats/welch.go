package stats

import "math"

// Welch compares the means of two separate samples without assuming equal
// variances (Welch 1947). t is positive where b's mean is the larger, df are
// Satterthwaite's degrees of freedom, p is two-sided. All are NaN with fewer
// than two values on either side. Two samples without any spread give t = 0
// and p = 1 where they are equal, else an infinite t and p = 0.
//
// No verdict on trials uses it: it takes every value for an independent draw, which
// trials on a drifting machine are not. It is here to show what "all A, then
// all B, then a t-test" would have said, and for boots, each of which is a draw
// of its own.
func Welch(a, b []float64) (t, df, p float64) {
	a, b = finite(a), finite(b)
	if len(a) < 2 || len(b) < 2 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	ma, va := meanVar(a)
	mb, vb := meanVar(b)
	na, nb := float64(len(a)), float64(len(b))
	ea, eb := va/na, vb/nb
	diff := mb - ma
	if ea+eb == 0 {
		df = na + nb - 2
		if diff == 0 {
			return 0, df, 1
		}
		return math.Copysign(math.Inf(1), diff), df, 0
	}
	t = diff / math.Sqrt(ea+eb)
	// By shares, so that the squares of tiny variances don't vanish.
	wa, wb := ea/(ea+eb), eb/(ea+eb)
	df = 1 / (wa*wa/(na-1) + wb*wb/(nb-1))
	return t, df, min(1, 2*tTail(math.Abs(t), df))
}

// meanVar returns the mean and the unbiased variance of two or more values.
// Equal values have a variance of exactly zero.
func meanVar(x []float64) (mean, variance float64) {
	n := float64(len(x))
	// About the first value, so that equal values stay exact.
	for _, v := range x {
		mean += (v - x[0]) / n
	}
	mean += x[0]
	for _, v := range x {
		variance += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, variance
}
