package stats

import (
	"math"
	"sort"
)

// Deviation returns the standard deviation of x; NaN with fewer than two values.
func Deviation(x []float64) float64 {
	f := finite(x)
	if len(f) < 2 {
		return math.NaN()
	}
	_, v := meanVar(f)
	return math.Sqrt(v)
}

// Autocorrelation returns the correlation of neighbours in a series, -1 to 1:
// near 0 where each value is a draw of its own, near 1 where the series moves
// slowly. A value that is not finite has no neighbours. It is NaN with fewer
// than three values or without any spread. For n independent values it is
// within about 2/sqrt(n) of zero in 95% (Bartlett 1946).
func Autocorrelation(x []float64) float64 {
	f := finite(x)
	if len(f) < 3 {
		return math.NaN()
	}
	mean, variance := meanVar(f)
	if !(variance > 0) {
		return math.NaN()
	}
	sum := 0.0
	for i := 1; i < len(x); i++ {
		if isFinite(x[i-1]) && isFinite(x[i]) {
			sum += (x[i-1] - mean) * (x[i] - mean)
		}
	}
	return sum / (variance * float64(len(f)-1))
}

// Swing returns how far a series moves: the difference between the highest and
// the lowest of its running medians over so many values. NaN where there are
// fewer values than that, or width is below 1.
func Swing(x []float64, width int) float64 {
	f := finite(x)
	if width < 1 || len(f) < width {
		return math.NaN()
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := 0; i+width <= len(f); i++ {
		m := Median(f[i : i+width])
		lo, hi = min(lo, m), max(hi, m)
	}
	return hi - lo
}

// ShareInterval returns the share of k in n with its exact interval (Clopper and
// Pearson 1934), which covers the true share at least as often as level says.
// Without trials it is as without data; k is from 0 to n.
func ShareInterval(k, n int, level float64) Interval {
	if n < 1 || k < 0 || k > n || !(level > 0 && level < 1) {
		return noInterval
	}
	in := Interval{Est: float64(k) / float64(n), Lo: 0, Hi: 1, Level: level}
	tail := (1 - level) / 2
	// P(at least k of n) at share p is I_p(k, n-k+1), and rises with p.
	atLeast := func(k int, p float64) float64 { return incompleteBeta(float64(k), float64(n-k+1), p, 1-p) }
	if k > 0 {
		in.Lo = rising(func(p float64) bool { return atLeast(k, p) >= tail })
	}
	if k < n {
		in.Hi = rising(func(p float64) bool { return atLeast(k+1, p) >= 1-tail })
	}
	return in
}

// rising returns where in 0 to 1 a condition begins to hold that then goes on
// to hold.
func rising(holds func(float64) bool) float64 {
	const steps = 1 << 40
	i := sort.Search(steps, func(i int) bool { return holds(float64(i) / steps) })
	return float64(i) / steps
}

// DetectableInFamily is DetectableEffect for one row of a family of m, at the
// family's 5%: the smallest true shift that n paired differences with standard
// deviation sd show with that power, in the unit of sd. As Needed does, it takes
// 5%/m for the row's share: for correlated rows somewhat more than max-T needs.
// It is NaN for an m below 1 besides.
func DetectableInFamily(sd float64, n, m int, power float64) float64 {
	if !(sd >= 0) || n < 1 || m < 1 || !(power > 0 && power < 1) {
		return math.NaN()
	}
	return detectable(sd, n, (1-plannedLevel)/float64(m), 1-plannedLevel, power)
}

// HalfWidth estimates how far the 95% interval of n normal differences with
// standard deviation sd reaches to either side, in the unit of sd. n need not
// be whole. NaN for an sd that is negative or no number; infinite for an n that
// is not above 1.
func HalfWidth(sd, n float64) float64 {
	if !(sd >= 0) {
		return math.NaN()
	}
	if !(n > 1) {
		return math.Inf(1)
	}
	return tQuantile((1+plannedLevel)/2, n-1) * sd / math.Sqrt(n)
}
