package compare

import (
	"math"
	"sort"

	"netdelta/internal/stats"
)

// FewestTrials is the fewest trials on each side with which one row in a
// family of that many can be told better or worse. One row alone needs 4, 20
// rows need 6 and 40 rows 7. It is 4 for fewer rows than one.
func FewestTrials(rows int) int {
	n := 1
	for !canTell(n, n, rows) {
		n++
	}
	return n
}

// canTell says whether na against nb trials can tell anything better or worse
// in a family of that many rows: U at its extreme has the two-sided
// probability 2 / C(na+nb, na), and Holm multiplies the smallest p of all with
// the number of rows.
func canTell(na, nb, rows int) bool {
	p := 2 * float64(max(1, rows))
	for i := 1; i <= min(na, nb) && p >= familyLevel; i++ {
		p *= float64(i) / float64(max(na, nb)+i)
	}
	return p < familyLevel
}

const (
	// plannedPower is the chance of a verdict that an estimate plans for.
	plannedPower = 0.8
	// efficiency is that of U against t for normal figures, 3/pi (Hodges and
	// Lehmann 1956).
	efficiency = 3 / math.Pi
)

// trialsNeeded estimates how many trials on each side would settle a row of a
// family of so many rows, from both sides' figures on the scale of the shift.
// A row is settled by showing that it differs from zero at the family's 5%, or
// by an interval that fits inside the margin; the answer is the fewer of the
// trials that give the one or the other with a probability of 80%, if the
// estimated shift and the spread so far are the true ones, the figures normal
// and every trial independent of the others. At least 4 and at most
// stats.MaxNeeded, which means that many or more; 0 where the figures have no
// spread to go by.
func trialsNeeded(a, b []float64, shift, margin float64, rows int) int {
	sd := pooled(a, b)
	if math.IsNaN(sd) || math.IsNaN(shift) {
		return 0
	}
	shift = math.Abs(shift)
	settles := func(n int) bool {
		return n >= FewestTrials(rows) && seen(shift, sd, n, rows) || inside(shift, sd, margin, n)
	}
	const first = 4
	return first + sort.Search(stats.MaxNeeded-first, func(i int) bool { return settles(first + i) })
}

// seen says whether n trials a side show the shift. The quarter of the squared
// quantile makes up for the spread's being estimated (Guenther 1981).
func seen(shift, sd float64, n, rows int) bool {
	if sd == 0 {
		return shift > 0
	}
	level, power := quantileOf(1-familyLevel/2/float64(max(1, rows))), quantileOf(plannedPower)
	d := shift / sd
	return float64(n) >= 2*(level+power)*(level+power)/(d*d)/efficiency+level*level/4
}

// inside says whether the interval of n trials a side lies inside the margin.
func inside(shift, sd, margin float64, n int) bool {
	if sd == 0 {
		return shift < margin
	}
	se := sd * math.Sqrt(2/(float64(n)*efficiency))
	half := quantileOf((1 + confidence) / 2)
	return probability((margin-shift)/se-half)-probability((-margin-shift)/se+half) >= plannedPower
}

// probability is that of a normal variable's being below z, quantileOf the
// inverse.
func probability(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
func quantileOf(p float64) float64  { return math.Sqrt2 * math.Erfinv(2*p-1) }

// pooled is the standard deviation within groups of figures; NaN where no
// group has two.
func pooled(groups ...[]float64) float64 {
	sum, df := 0.0, 0
	for _, g := range groups {
		mean := 0.0
		for _, v := range g {
			mean += v / float64(len(g))
		}
		for _, v := range g {
			sum += (v - mean) * (v - mean)
		}
		df += max(0, len(g)-1)
	}
	if df == 0 {
		return math.NaN()
	}
	return math.Sqrt(sum / float64(df))
}
