package stats

import "math"

// kthWalsh returns the k-th smallest (from 1) of the Walsh averages of sorted
// values: the means of all pairs, each value with itself included. There are
// n(n+1)/2 of them; none is stored.
func kthWalsh(s []float64, k int) float64 {
	return kth(k, s[0], s[len(s)-1], func(x float64) int {
		// As i rises, fewer partners j >= i keep the mean at or below x.
		count, j := 0, len(s)-1
		for i := range s {
			for j >= i && mean2(s[i], s[j]) > x {
				j--
			}
			if j < i {
				break
			}
			count += j - i + 1
		}
		return count
	})
}

// kthDifference returns the k-th smallest (from 1) of the differences b - a
// of all pairs of two sorted samples; none is stored.
func kthDifference(a, b []float64, k int) float64 {
	return kth(k, b[0]-a[len(a)-1], b[len(b)-1]-a[0], func(x float64) int {
		count, j := 0, 0
		for i := range a {
			for j < len(b) && b[j]-a[i] <= x {
				j++
			}
			count += j
		}
		return count
	})
}

// kth returns the smallest number x in [lo, hi] for which count(x), the
// number of values at or below x, is at least k. It halves the range of
// floating-point numbers itself, so that it needs at most 64 steps and its
// answer is one of the values, to the last bit.
func kth(k int, lo, hi float64, count func(float64) int) float64 {
	first, last := ordinal(lo), ordinal(hi)
	for first < last {
		mid := first + (last-first)/2
		if count(fromOrdinal(mid)) >= k {
			last = mid
		} else {
			first = mid + 1
		}
	}
	return fromOrdinal(first) + 0 // no negative zero
}

// ordinal numbers the floating-point values in ascending order.
func ordinal(x float64) uint64 {
	const sign = 1 << 63
	b := math.Float64bits(x)
	if b&sign != 0 {
		return ^b
	}
	return b | sign
}

// fromOrdinal is the inverse of ordinal.
func fromOrdinal(o uint64) float64 {
	const sign = 1 << 63
	if o&sign != 0 {
		return math.Float64frombits(o &^ sign)
	}
	return math.Float64frombits(^o)
}

// middleOf returns the median of m values of which kth gives the k-th.
func middleOf(m int, kth func(k int) float64) float64 {
	if m%2 == 1 {
		return kth(m/2 + 1)
	}
	return mean2(kth(m/2), kth(m/2+1))
}
