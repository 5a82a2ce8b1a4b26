package stats

import "math"

// signedRankExact is the largest number of differences for which the null
// distribution of the signed-rank statistic is computed exactly (about 4
// million additions). Beyond it the normal approximation with continuity
// correction is within 0.0005.
const signedRankExact = 200

// SignedRank returns the Hodges-Lehmann estimate of the centre of paired
// differences d, which is the median of their Walsh averages, with the
// interval that inverts Wilcoxon's signed-rank test (Hollander, Wolfe and
// Chicken, Nonparametric Statistical Methods, 3.2 and 3.3). The level is
// exact for any continuous symmetric distribution and n up to 200; beyond, it
// is that of the normal approximation. Zeros and ties are kept: they make the
// closed interval's coverage higher, never lower. Six differences are the
// fewest that attain 95% (with 96.9%).
func SignedRank(d []float64, level float64) Interval {
	s := sortedFinite(d)
	n := len(s)
	if n == 0 {
		return noInterval
	}
	m := n * (n + 1) / 2
	k, attained := cutoff(signedRankCum(n), m, level)
	return Interval{
		Est:   middleOf(m, func(k int) float64 { return kthWalsh(s, k) }),
		Lo:    kthWalsh(s, k),
		Hi:    kthWalsh(s, m+1-k),
		Level: attained,
	}
}

// SignedRankP returns the two-sided p of Wilcoxon's signed-rank test that
// differences d are symmetric about zero. Zeros are dropped and ties get
// their mean rank; up to 200 differences p is exact given the ties, beyond it
// is that of the normal approximation with continuity correction. It is 1
// where all differences are zero, and NaN where there are none.
func SignedRankP(d []float64) float64 {
	f := finite(d)
	if len(f) == 0 {
		return math.NaN()
	}
	var sizes []float64
	var positive []bool
	for _, v := range f {
		if v != 0 {
			sizes = append(sizes, math.Abs(v))
			positive = append(positive, v > 0)
		}
	}
	ranks, _ := midranks(sizes)
	total, up, squares := 0, 0, 0.0
	for i, r := range ranks {
		total += r
		squares += float64(r) * float64(r)
		if positive[i] {
			up += r
		}
	}
	low := min(up, total-up)
	if 2*low == total {
		return 1
	}
	if len(ranks) > signedRankExact {
		// In doubled ranks: mean total/2, variance the squares' sum over
		// 4, steps of 2, and so a correction of 1.
		z := (float64(total)/2 - float64(low) - 1) / (math.Sqrt(squares) / 2)
		return min(1, 2*normalTail(z))
	}
	p := 0.0
	for _, q := range signSums(ranks)[:low+1] {
		p += q
	}
	return min(1, 2*p)
}

// signedRankCum returns the cumulative null distribution of the sum of the
// positive ranks of n differences without ties.
func signedRankCum(n int) func(int) float64 {
	if n > signedRankExact {
		f := float64(n)
		mean, sd := f*(f+1)/4, math.Sqrt(f*(f+1)*(2*f+1)/24)
		return func(k int) float64 { return normalTail((mean - float64(k) - 0.5) / sd) }
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return cumulative(signSums(ranks))
}

// signSums returns the distribution of the sum of those ranks that a fair
// coin picks, each on its own: entry s is the probability of sum s. Up to 50
// ranks every probability is exact.
func signSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	top := 0
	for _, r := range ranks {
		top += r
		for s := top; s >= r; s-- {
			p[s] = (p[s] + p[s-r]) / 2
		}
		for s := min(r, total+1) - 1; s >= 0; s-- {
			p[s] /= 2
		}
	}
	return p
}

// cumulative turns probabilities into their running sum, in place.
func cumulative(p []float64) func(int) float64 {
	for i := 1; i < len(p); i++ {
		p[i] += p[i-1]
	}
	return func(k int) float64 { return p[min(k, len(p)-1)] }
}
