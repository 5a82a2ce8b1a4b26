package stats

import (
	"math"
	"math/rand/v2"
)

// flipRow is one row made ready for many flips.
//
// Under flips the sum of squares Q stays, so t depends on the sum S alone:
// with g = S^2 / (n Q), t^2 = (n-1) g / (1-g), which rises with g from 0 to
// infinity as g goes from 0 to 1. g orders the flips as |t| does, and is
// bounded. The terms are scaled so that their sum's square is g.
type flipRow struct {
	index    int
	pairs    int
	terms    []float64
	own      float64 // g of the data
	member   bool    // takes part in the family's maximum
	power    float64 // see common
	observed float64 // own on the common scale
}

func newFlipRow(index int, row []float64, blocks []int) flipRow {
	d := make([]float64, len(blocks))
	largest, pairs := 0.0, 0
	for j, b := range blocks {
		if b < len(row) && isFinite(row[b]) {
			d[j] = row[b]
			largest = max(largest, math.Abs(row[b]))
			pairs++
		}
	}
	r := flipRow{index: index, pairs: pairs, terms: d}
	if largest == 0 {
		return r // nothing but zeros: g is 0 in every flip
	}
	squares := 0.0
	for _, v := range d {
		squares += (v / largest) * (v / largest)
	}
	scale := math.Sqrt(squares * float64(pairs))
	sum := 0.0
	for j, v := range d {
		d[j] = v / largest / scale
		sum += d[j]
	}
	r.own = statistic(sum)
	return r
}

// statistic returns g from the sum of a row's terms.
func statistic(sum float64) float64 { return min(1, sum*sum) }

// join decides which rows take part in the family's maximum, and puts the
// data's statistic of each on the common scale.
func join(family []flipRow) {
	fullest, fewest := 0, math.MaxInt
	for i := range family {
		fullest = max(fullest, family[i].pairs)
	}
	for i := range family {
		r := &family[i]
		r.member = r.pairs > 0 && r.pairs >= min(fullest, flipMinPairs)
		if r.member {
			fewest = min(fewest, r.pairs)
		}
	}
	for i := range family {
		r := &family[i]
		r.power = 1
		if r.member && r.pairs > fewest {
			r.power = wallace(r.pairs) / wallace(fewest)
		}
		r.observed = r.common(r.own)
	}
}

// wallace returns the factor c for which sqrt(c ln(1+t^2/df)) is nearly a
// normal value, df being one less than the pairs (Wallace 1959).
func wallace(pairs int) float64 {
	df := float64(pairs - 1)
	c := (8*df + 1) / (8*df + 3)
	return df * c * c
}

// common brings g to the scale of the members with the fewest pairs, so that
// rows with more degrees of freedom compare with them fairly. 1+t^2/df is
// 1/(1-g), so equal normal values by Wallace mean that 1-g on the common scale
// is a power of the row's own. The power is never below 1: there the rounding
// of a g near 1 would grow beyond flipTie.
func (r *flipRow) common(g float64) float64 {
	if r.power == 1 {
		return g
	}
	return 1 - math.Pow(1-g, r.power)
}

// count returns the number of flips in which the row's |t|, and that in which
// the largest of the family so far, is at least that of the data. highest has
// that largest for each flip, on the common scale, and takes this row's in. A
// row that is no member of the family leaves it as it is and counts every
// flip.
func (r *flipRow) count(flips flipSet, highest []float64) (own, joint int) {
	sums := chunkSums(r.terms)
	for f := range highest {
		sum := 0.0
		for c, bits := range flips.bits[f*flips.width : (f+1)*flips.width] {
			sum += sums[c][bits]
		}
		g := statistic(sum)
		if r.member {
			highest[f] = max(highest[f], r.common(g))
		}
		switch {
		case g >= r.own-flipTie:
			own++
			joint++
		case !r.member || highest[f] >= r.observed-flipTie:
			joint++
		}
	}
	return own, joint
}

// chunkSums returns, for each eight terms and each pattern of eight bits, the
// sum of the terms with those negated whose bit is set: one look-up then does
// for eight additions.
func chunkSums(terms []float64) [][256]float64 {
	sums := make([][256]float64, flipWidth(len(terms)))
	for j, term := range terms {
		s := &sums[j/8]
		for bits := range s {
			if bits>>(j%8)&1 == 1 {
				s[bits] -= term
			} else {
				s[bits] += term
			}
		}
	}
	return sums
}

// flipSet is a set of joint sign flips: flip f negates block j if bit j%8 of
// byte f*width + j/8 is set.
type flipSet struct {
	width, count int
	bits         []byte
}

func flipWidth(blocks int) int { return (blocks + 7) / 8 }

// newFlips returns all flips, or a sample of them. The first is always the
// identity. All flips of n blocks are 2^(n-1): a flip and its opposite have
// the same |t| in every row, so the last block can keep its sign.
func newFlips(blocks int, seed uint64) flipSet {
	f := flipSet{width: flipWidth(blocks), count: flipDraws}
	if blocks <= flipAllBlocks {
		f.count = 1 << max(0, blocks-1)
		f.bits = make([]byte, f.count*f.width)
		for i := range f.count {
			for c := range f.width {
				f.bits[i*f.width+c] = byte(i >> (8 * c))
			}
		}
		return f
	}
	f.bits = make([]byte, f.count*f.width)
	// A fixed second word keeps this stream apart from others of the seed.
	rng := rand.New(rand.NewPCG(seed, 0x7369676e666c6970))
	for i := f.width; i < len(f.bits); i++ {
		f.bits[i] = byte(rng.Uint32() >> 24)
	}
	return f
}
