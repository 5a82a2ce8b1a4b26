package stats

import "math"

// rankSumWork limits the additions spent on one exact null distribution of
// the rank sum, a few milliseconds. It covers 38 against 38 values and 3
// against 600; beyond, the normal approximation is within 0.0012.
const rankSumWork = 1 << 23

// MannWhitney compares two separate samples. u is the number of pairs in
// which the value of a is the larger, ties counting a half: 0 to
// len(a)*len(b). p is two-sided: the probability under exchange of all values
// of a u at least as far from its mean. It is exact given the ties up to some
// 38 values each, then that of the normal approximation with corrections for
// ties and continuity. Both are NaN if either sample is empty; p is 1 where
// all values are equal.
func MannWhitney(a, b []float64) (u, p float64) {
	a, b = finite(a), finite(b)
	na, nb := len(a), len(b)
	if na == 0 || nb == 0 {
		return math.NaN(), math.NaN()
	}
	ranks, ties := midranks(append(a, b...))
	sum := 0
	for _, r := range ranks[:na] {
		sum += r
	}
	// In doubled units, as the ranks are.
	u2 := sum - na*(na+1)
	off := abs(u2 - na*nb)
	if off == 0 {
		return float64(u2) / 2, 1
	}
	if !rankSumExact(na, nb) {
		n, prod := float64(na+nb), float64(na)*float64(nb)
		sd := math.Sqrt(prod / 12 * (n + 1 - ties/(n*(n-1))))
		z := (float64(off)/2 - 0.5) / sd
		return float64(u2) / 2, min(1, 2*normalTail(z))
	}
	// The smaller sample's sum decides as well: its u is na*nb less the
	// other's, as far from the mean.
	small := min(na, nb)
	base := small * (small + 1)
	for s, q := range subsetSums(ranks, small) {
		if abs(s-base-na*nb) >= off {
			p += q
		}
	}
	return float64(u2) / 2, min(1, p)
}

// Shift returns the Hodges-Lehmann estimate of how far b lies above a, the
// median of all differences b - a between the samples, with the interval that
// inverts the Mann-Whitney test (Hollander, Wolfe and Chicken, 4.2 and 4.3).
// The level is exact for continuous distributions that differ only by a
// shift, within the sizes for which MannWhitney is exact; ties only raise the
// coverage. Without data in either sample there is no estimate.
func Shift(a, b []float64, level float64) Interval {
	a, b = sortedFinite(a), sortedFinite(b)
	if len(a) == 0 || len(b) == 0 {
		return noInterval
	}
	m := len(a) * len(b)
	k, attained := cutoff(rankSumCum(len(a), len(b)), m, level)
	return Interval{
		Est:   middleOf(m, func(k int) float64 { return kthDifference(a, b, k) }),
		Lo:    kthDifference(a, b, k),
		Hi:    kthDifference(a, b, m+1-k),
		Level: attained,
	}
}

// rankSumExact says whether the exact distribution is within the budget:
// values, times picks, times distinct doubled sums.
func rankSumExact(na, nb int) bool {
	small := float64(min(na, nb))
	return float64(na+nb)*small*2*float64(na)*float64(nb) <= rankSumWork
}

// rankSumCum returns the cumulative null distribution of u without ties.
func rankSumCum(na, nb int) func(int) float64 {
	if !rankSumExact(na, nb) {
		fa, fb := float64(na), float64(nb)
		mean, sd := fa*fb/2, math.Sqrt(fa*fb*(fa+fb+1)/12)
		return func(k int) float64 { return normalTail((mean - float64(k) - 0.5) / sd) }
	}
	ranks := make([]int, na+nb)
	for i := range ranks {
		ranks[i] = i + 1
	}
	small := min(na, nb)
	return cumulative(subsetSums(ranks, small)[small*(small+1)/2:])
}

// subsetSums returns the distribution of the sum of m ranks drawn from all of
// them without replacement: entry s is the probability of sum s. It keeps
// counts, which are exact up to 2^53, and divides at the end.
func subsetSums(ranks []int, m int) []float64 {
	top := 0
	for _, r := range ranks {
		top = max(top, r)
	}
	// count[k][s] is the number of ways in which k of the ranks seen so far
	// sum to s. No sum of m ranks is over m times the largest.
	width := m*top + 1
	count := make([][]float64, m+1)
	for k := range count {
		count[k] = make([]float64, width)
	}
	count[0][0] = 1
	reach := make([]int, m+1) // the largest sum in count[k] so far
	for i, r := range ranks {
		for k := min(m, i+1); k >= 1; k-- {
			from := count[k-1][:reach[k-1]+1]
			to := count[k][r:]
			for s, c := range from {
				to[s] += c
			}
			reach[k] = max(reach[k], reach[k-1]+r)
		}
	}
	all := count[m][:reach[m]+1]
	total := 0.0
	for _, c := range all {
		total += c
	}
	for s := range all {
		all[s] /= total
	}
	return all
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}
