package hist

import "math"

// Mean is the arithmetic mean in nanoseconds, from the exact sum of the
// samples (those below 1 ns as 1); NaN when there is none.
func (h *Hist) Mean() float64 {
	if h.n == 0 {
		return math.NaN()
	}
	return h.sum.float() / float64(h.n)
}

// Quantile is the q-quantile in nanoseconds by nearest rank: the value of the
// sample that is ceil(q*n)-th from below (the first for q = 0). The first and
// the last are Min and Max exactly; any other is the midpoint of its bucket,
// held between Min and Max, and so within 0.4% of the sample's true value. A
// sample above MaxValue has no midpoint and gives Max, which never flatters.
// NaN when there is no sample or q is not within 0 to 1.
func (h *Hist) Quantile(q float64) float64 {
	if h.n == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	rank := rankOf(q, h.n)
	switch rank {
	case 1:
		return float64(h.min)
	case h.n:
		return float64(h.max)
	}
	var below uint64
	for i, c := range h.counts[:overBucket] {
		if below += c; below >= rank {
			b := bucketAt(i)
			middle := float64(b.Low+b.High) / 2
			return min(max(middle, float64(h.min)), float64(h.max))
		}
	}
	return float64(h.max)
}

// rankOf is ceil(q*n), from 1 to n. A decimal q is a little off in binary, and
// q*n once more: 0.07*100 comes out above 7. The product is lowered by more
// than these two roundings before it is rounded up.
func rankOf(q float64, n uint64) uint64 {
	rank := math.Ceil(q * float64(n) * (1 - 0x1p-51))
	return min(max(uint64(rank), 1), n)
}
