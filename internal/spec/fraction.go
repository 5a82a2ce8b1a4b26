package spec

import (
	"fmt"
	"maps"
	mathbits "math/bits"
	"slices"
	"strconv"
	"strings"
)

// MaxFractionFactors is the most factors of which a fraction is worked out.
const MaxFractionFactors = 10

// FractionOf returns the variants of a regular fraction, "1/2", "1/4" and so on,
// of the crossing of factors with two levels each, the baseline among them.
// Among all such fractions it is one of least aberration: the shortest effects
// that can't be told from the mean are as long as can be, and as few (Fries and
// Hunter 1980). At least no main effect is mistaken for another: a fraction that
// is too small for that is an error. Conditions are in none of it: each combination
// of theirs has the same fraction of the others.
func FractionOf(factors []Factor, baseline Variant, share string) ([]Variant, error) {
	p, err := halvings(share)
	if err != nil {
		return nil, err
	}
	conditions, factors := Split(factors)
	k := len(factors)
	if k > MaxFractionFactors {
		return nil, fmt.Errorf("fraction %s: of more than %d factors, here %d, no fraction is worked out: list the variants", share, MaxFractionFactors, k)
	}
	for _, f := range factors {
		if len(f.Levels) != 2 {
			return nil, fmt.Errorf("fraction %s: factor %s has %d levels: fractions are of factors with two (or list the variants)", share, f.Name, len(f.Levels))
		}
	}
	words, ok := generators(k, p)
	if !ok {
		return nil, fmt.Errorf("fraction %s of %d factors is too small to tell their effects apart: the smallest is %s", share, k, smallestFraction(k))
	}
	base := k - p
	chosen := make([]Variant, 0, 1<<base)
	for run := range uint(1) << base {
		v := Variant{}
		for i, f := range factors {
			on := run >> i & 1
			if i >= base {
				on = uint(mathbits.OnesCount(run&words[i-base])) & 1
			}
			v[f.Name] = baseline[f.Name]
			if on == 1 {
				v[f.Name] = otherLevel(f, baseline[f.Name])
			}
		}
		chosen = append(chosen, v)
	}
	if len(conditions) == 0 {
		return chosen, nil
	}
	var all []Variant
	for _, v := range chosen {
		for _, c := range crossing(conditions) {
			maps.Copy(c, v)
			all = append(all, c)
		}
	}
	return all, nil
}

// halvings is how often a share halves: 1/4 does twice.
func halvings(share string) (int, error) {
	number, found := strings.CutPrefix(share, "1/")
	n, err := strconv.ParseUint(number, 10, 32)
	if !found || err != nil || n < 2 || mathbits.OnesCount64(n) != 1 || number[0] == '0' {
		return 0, fmt.Errorf("%s is no fraction: valid are 1/2, 1/4, 1/8 and so on", quoted(share))
	}
	return mathbits.TrailingZeros64(n), nil
}

func otherLevel(f Factor, level string) string {
	if f.Levels[0] == level {
		return f.Levels[1]
	}
	return f.Levels[0]
}

// smallestFraction is the smallest share that tells the main effects of k
// factors apart.
func smallestFraction(k int) string {
	p := 0
	for {
		if _, ok := generators(k, p+1); !ok {
			break
		}
		p++
	}
	if p == 0 {
		return "all of them"
	}
	return fmt.Sprintf("1/%d", 1<<p)
}

// generators returns, for each of the last p of k factors, the set of the first
// k-p whose product it is, such that the aberration is least. Every regular
// fraction can be written so but for the factors' order. It says false where
// there is none of resolution three.
func generators(k, p int) ([]uint, bool) {
	base := k - p
	if p < 1 || base < 2 {
		return nil, false
	}
	var words []uint // of two factors at least
	for w := range uint(1) << base {
		if mathbits.OnesCount(w) >= 2 {
			words = append(words, w)
		}
	}
	var best, bestLengths []uint
	picked := make([]uint, 0, p)
	var search func(from int)
	search = func(from int) {
		if len(picked) == p {
			lengths := wordLengths(k, picked)
			if best == nil || slices.Compare(lengths, bestLengths) < 0 {
				best, bestLengths = slices.Clone(picked), lengths
			}
			return
		}
		for i := from; i < len(words); i++ {
			picked = append(picked, words[i])
			search(i + 1)
			picked = picked[:len(picked)-1]
		}
	}
	search(0)
	return best, best != nil
}

// wordLengths counts the effects that are the same as the mean, by the number of
// their factors: those are the products of the generators' own words.
func wordLengths(k int, words []uint) []uint {
	lengths := make([]uint, k+1)
	for mask := uint(1); mask < 1<<len(words); mask++ {
		product := uint(0)
		for i, w := range words {
			if mask>>i&1 == 1 {
				product ^= w
			}
		}
		lengths[mathbits.OnesCount(product)+mathbits.OnesCount(mask)]++
	}
	return lengths
}
