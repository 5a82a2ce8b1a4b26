package stats

import (
	"math"
	"sort"
)

// WelchShift returns the difference of the means, b's less a's, with Welch's
// interval at that level (0 to 1): plus and minus the quantile of t at
// Satterthwaite's degrees of freedom times the standard error. It takes the
// values for independent draws from normal distributions, whose variances may
// differ; Welch has the test that belongs to it. With fewer than two values on
// either side there is no interval, and its level is 0; without any on one of
// them the estimate is NaN too.
//
// With three values a side and normal values of one variance it holds its level
// (it covers 96 to 97%), and with three times the deviation on one side, too; with
// ten times it covers 94%, and Welch's test errs in 6%.
func WelchShift(a, b []float64, level float64) Interval {
	a, b = finite(a), finite(b)
	if len(a) == 0 || len(b) == 0 || !(level > 0 && level < 1) {
		return noInterval
	}
	if len(a) == 1 || len(b) == 1 {
		est := mean(b) - mean(a)
		return Interval{Est: est, Lo: est, Hi: est}
	}
	ma, va := meanVar(a)
	mb, vb := meanVar(b)
	est := mb - ma
	se := math.Sqrt(va/float64(len(a)) + vb/float64(len(b)))
	_, df, _ := Welch(a, b)
	half := 0.0
	if se > 0 {
		half = tQuantile((1+level)/2, df) * se
	}
	return Interval{Est: est, Lo: est - half, Hi: est + half, Level: level}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// NeededEach estimates how many values on each side would settle a row of a
// family of m rows, as Needed does for blocks, from the values so far: by
// Welch's t at 5%/m, or by its 95% interval inside the margin, with a
// probability of 80%, if the difference of the means and the spread within the
// sides are the true ones. At least 3, at most MaxNeeded; 0 where no side has
// two values or one has none, or m is below 1.
func NeededEach(a, b []float64, margin float64, m int) int {
	a, b = finite(a), finite(b)
	df := float64(len(a) + len(b) - 2)
	if len(a) == 0 || len(b) == 0 || df < 1 || m < 1 {
		return 0
	}
	shift, sum := math.Abs(mean(b)-mean(a)), 0.0
	for _, side := range [][]float64{a, b} {
		if len(side) > 1 {
			_, v := meanVar(side)
			sum += v * float64(len(side)-1)
		}
	}
	sd := math.Sqrt(sum / df)
	if !isFinite(shift) || !isFinite(sd) {
		return 0
	}
	const first = 3
	settles := func(n int) bool {
		df, se := float64(2*n-2), sd*math.Sqrt(2/float64(n))
		if se == 0 {
			return shift > 0 || margin > 0
		}
		seen := tQuantile(1-(1-plannedLevel)/2/float64(m), df) + tQuantile(plannedPower, df)
		half := tQuantile((1+plannedLevel)/2, df)
		inside := 1 - tTail((margin-shift)/se-half, df) - tTail((margin+shift)/se-half, df)
		return shift/se >= seen || inside >= plannedPower
	}
	return first + sort.Search(MaxNeeded-first, func(i int) bool { return settles(first + i) })
}
