package stats

import (
	"math"
	"sort"
)

// MaxNeeded is the largest answer of Needed: it means "this many or more".
const MaxNeeded = 10000

const (
	// plannedPower is the chance of an answer that Needed plans for.
	plannedPower = 0.8
	// plannedLevel is the level of intervals and of the family's error, but in runs
	// that may stop by precision.
	plannedLevel = 0.95
)

// FewestPairs is the fewest pairs from which on, at a confidence of level (0 to
// 1), sign flips can show a difference and the signed-rank interval attains its
// level: 6 at 0.95, 7 at StoppedLevel. Both need 2/2^n to fit into 1 - level.
func FewestPairs(level float64) int {
	n := 1
	for n < flipAllBlocks && math.Ldexp(2, -n) > 1-level {
		n++
	}
	return n
}

// Needed estimates how many blocks would settle a row of a family of m rows,
// from the paired differences d so far; margin is the half-width of equivalence
// on d's scale, and level the confidence of intervals, 0 to 1: the family's error
// is 1 less it. A row is settled by showing that it differs from zero at the
// family's error, or by an interval that fits inside the margin; the answer is
// the fewer of the blocks that give the one or the other with a probability of
// 80%, if d's centre and spread are the true ones. At least FewestPairs of the
// level, at most MaxNeeded. It may be no more than len(d): then the row was
// unlucky. It is 0 where fewer than 3 differences leave nothing to estimate from,
// m is below 1 or the level is none.
//
// The centre is the Hodges-Lehmann estimate, the spread the standard deviation,
// and the family's share of the error is divided by m: for correlated rows that is
// somewhat more than max-T needs.
func Needed(d []float64, margin float64, m int, level float64) int {
	f := finite(d)
	if len(f) < 3 || m < 1 || !(level > 0 && level < 1) {
		return 0
	}
	centre := math.Abs(SignedRank(f, level).Est)
	_, variance := meanVar(f)
	sd := math.Sqrt(variance)
	if !isFinite(centre) || !isFinite(sd) {
		return 0
	}
	settles := func(n int) bool {
		return centre > 0 && centre >= detectable(sd, n, (1-level)/float64(m), 1-level, plannedPower) ||
			chanceInside(centre, sd, margin, n, level) >= plannedPower
	}
	// Both grow with n from then on; the fewest have a rule of their own.
	fewest := FewestPairs(level)
	if settles(fewest) {
		return fewest
	}
	first := fewest + 1
	return first + sort.Search(MaxNeeded-first, func(i int) bool { return settles(first + i) })
}

// DetectableEffect returns the smallest true shift that n paired differences
// with standard deviation sd show with the given power at the given level (a
// confidence: 0.95 is a two-sided test at 5%), in the unit of sd. It assumes
// normal differences. It is infinite where n sign flips cannot reach the
// level at all (fewer than 6 at 0.95), and NaN for an sd that is negative or
// no number, for n < 1, and for a level or power outside 0 to 1.
func DetectableEffect(sd float64, n int, level, power float64) float64 {
	if !(sd >= 0) || n < 1 || !(level > 0 && level < 1) || !(power > 0 && power < 1) {
		return math.NaN()
	}
	return detectable(sd, n, 1-level, 1-level, power)
}

// detectable is DetectableEffect for a t test at the two-sided level alphaT
// whose p comes from sign flips and is read at alphaFlip.
//
// The quantiles of t for level and power, added up, stand for the noncentral
// t: by that, an effect planned for 80% is seen in 79.7 to 80% at an alphaT of
// 5%, and at 0.25% in 74% (7 blocks), 78% (14) to 80%. Where no flip but the
// data themselves and their opposite fits into alphaFlip (n = 6 at 5%), the
// test needs every difference on one side, which is more than t asks.
func detectable(sd float64, n int, alphaT, alphaFlip, power float64) float64 {
	const slack = 1e-12 // 1 - 0.95 is not 0.05 to the last bit
	flips := math.Ldexp(1, n-1)
	enough := math.Floor(alphaFlip*flips + slack)
	if enough < 1 {
		return math.Inf(1)
	}
	df := float64(n - 1)
	size := max(0, tQuantile(1-alphaT/2, df)+tQuantile(power, df)) / math.Sqrt(float64(n))
	if enough == 1 {
		size = max(size, normalQuantile(math.Pow(power, 1/float64(n))))
	}
	return size * sd
}

// chanceInside returns the probability that the interval of n normal differences
// with the given centre (not negative) and sd lies inside the margin.
func chanceInside(centre, sd, margin float64, n int, level float64) float64 {
	if !(margin > centre) {
		return 0
	}
	if sd == 0 {
		return 1
	}
	above, below := (margin-centre)/sd, (margin+centre)/sd
	if n == FewestPairs(level) {
		// The interval of so few is their whole range.
		return math.Pow(1-normalTail(above)-normalTail(below), float64(n))
	}
	df, root := float64(n-1), math.Sqrt(float64(n))
	half := tQuantile((1+level)/2, df)
	return max(0, 1-tTail(above*root-half, df)-tTail(below*root-half, df))
}
