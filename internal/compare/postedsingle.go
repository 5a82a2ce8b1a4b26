package compare

import (
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/stats"
)

// Single holds the single values of both sides' figures against each other. They are
// packets of one run each, or of few: they say how far apart the two sets lie, and
// nothing of how much a second run would have differed.
type Single struct {
	NA int `json:"n_a"`
	NB int `json:"n_b"`
	// Medians, the least and the largest of each set, in the metric's unit.
	MedianA float64 `json:"median_a"`
	MedianB float64 `json:"median_b"`
	MinA    float64 `json:"min_a"`
	MaxA    float64 `json:"max_a"`
	MinB    float64 `json:"min_b"`
	MaxB    float64 `json:"max_b"`
	// DeviationA and DeviationB are the sets' standard deviations; null for one value.
	DeviationA *float64 `json:"deviation_a"`
	DeviationB *float64 `json:"deviation_b"`
	// Overlap is the share of all values that lie within the range of the other set:
	// 0 where the sets do not overlap at all.
	Overlap float64 `json:"overlap"`
	// Above is the share of pairs in which the variant's value is the larger one, equal
	// ones counted as half.
	Above float64 `json:"above"`
}

// setSingle looks at the single values, if both sides have some.
func (r *unpaired) setSingle(m *match) {
	a, b := singlesOf(m.trials(0), r.taken()), singlesOf(m.trials(1), r.taken())
	if len(a) < 2 || len(b) < 2 {
		return
	}
	s := &Single{NA: len(a), NB: len(b), MedianA: stats.Median(a), MedianB: stats.Median(b),
		MinA: slices.Min(a), MaxA: slices.Max(a), MinB: slices.Min(b), MaxB: slices.Max(b),
		DeviationA: number(stats.Deviation(a)), DeviationB: number(stats.Deviation(b))}
	within := 0
	for _, v := range a {
		if v >= s.MinB && v <= s.MaxB {
			within++
		}
	}
	for _, v := range b {
		if v >= s.MinA && v <= s.MaxA {
			within++
		}
	}
	s.Overlap = float64(within) / float64(len(a)+len(b))
	s.Above = above(a, b)
	r.Single = s
}

// above is the share of pairs in which b's value is the larger one.
func above(a, b []float64) float64 {
	sorted := slices.Clone(a)
	slices.Sort(sorted)
	sum := 0.0
	for _, v := range b {
		lo, _ := slices.BinarySearch(sorted, v)
		hi, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		sum += float64(lo) + float64(hi-lo)/2
	}
	return sum / float64(len(a)) / float64(len(b))
}

func singlesOf(trials []*cell, t result.Taken) []float64 {
	var all []float64
	for _, c := range trials {
		if c.posted == nil {
			continue
		}
		if f := c.posted.Figure(t); f != nil {
			all = append(all, f.Values...)
		}
	}
	return all
}
