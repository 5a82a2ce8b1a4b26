package stats

import (
	"math"
	"slices"
	"sort"
)

// Interval is an estimate with its confidence interval. Lo <= Est <= Hi, in
// the unit of the data. Level is the confidence that the interval attains, 0
// to 1: at least what was asked where the number of values allows it, else
// that of the widest interval there is, which then is less. Without data all
// of Est, Lo and Hi are NaN and Level is 0.
//
// The bounds belong to the interval (it is closed), so ties and zeros in the
// data can only raise its coverage.
type Interval struct{ Est, Lo, Hi, Level float64 }

// noInterval is the answer where there is no data.
var noInterval = Interval{Est: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}

// Median returns the middle value of x, or the mean of the two middle ones;
// NaN without data. It leaves x as it is.
func Median(x []float64) float64 {
	return middle(sortedFinite(x))
}

// MedianInterval returns the median of x with an interval between two of its
// order statistics, the k-th from each end. Its level is exact for any
// continuous distribution, by the binomial distribution of the number of
// values below the true median (David and Nagaraja, Order Statistics, 7.1).
// Six values are the fewest that attain 95%.
func MedianInterval(x []float64, level float64) Interval {
	s := sortedFinite(x)
	n := len(s)
	if n == 0 {
		return noInterval
	}
	k, attained := cutoff(binomialHalf(n), n, level)
	return Interval{Est: middle(s), Lo: s[k-1], Hi: s[n-k], Level: attained}
}

// cutoff picks the interval between the k-th smallest and the k-th largest of
// m values: the largest k whose level, 1 - 2 cum(k-1), is at least the level
// asked, or 1 where none is. cum is the null distribution of the statistic
// that counts the values below the true shift; it is symmetric.
func cutoff(cum func(int) float64, m int, level float64) (k int, attained float64) {
	// Levels such as 0.9375 are exact; the sums are only so to rounding.
	const slack = 1e-12
	// Beyond the middle the interval would turn inside out.
	k = sort.Search((m+1)/2, func(j int) bool { return !(1-2*cum(j) >= level-slack) })
	k = max(k, 1)
	return k, max(0, 1-2*cum(k-1))
}

// binomialHalf returns the cumulative distribution of the number of heads in
// n fair throws, for arguments of 0 up to n/2.
func binomialHalf(n int) func(int) float64 {
	cum := make([]float64, n/2+1)
	sum := 0.0
	pmf := math.Ldexp(1, -n)
	for k := range cum {
		if n > 1000 {
			// 2^-n is no longer a normal number: by logarithms, which
			// cost some digits.
			pmf = math.Exp(lgamma(float64(n+1)) - lgamma(float64(k+1)) - lgamma(float64(n-k+1)) - float64(n)*math.Ln2)
		}
		sum += pmf
		cum[k] = sum
		pmf = pmf * float64(n-k) / float64(k+1)
	}
	return func(k int) float64 { return cum[k] }
}

// sortedFinite returns the finite values of x in ascending order, in a slice
// of its own.
func sortedFinite(x []float64) []float64 {
	s := finite(x)
	slices.Sort(s)
	return s
}

// finite returns the finite values of x, in their order, in a slice of its
// own.
func finite(x []float64) []float64 {
	s := make([]float64, 0, len(x))
	for _, v := range x {
		if isFinite(v) {
			s = append(s, v)
		}
	}
	return s
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// middle returns the median of sorted values; NaN for none.
func middle(s []float64) float64 {
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return mean2(s[(n-1)/2], s[n/2])
}

// mean2 returns the mean of two values and cannot overflow. Equal values give
// themselves, not a rounding of them.
func mean2(a, b float64) float64 {
	if a == b {
		return a
	}
	return a/2 + b/2
}
