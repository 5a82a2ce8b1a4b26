package stats

import (
	"math"
	"sort"
)

// Holm returns p adjusted for a family of tests by Holm's step-down method
// (Holm 1979), in the order of p. The chance of any false alarm in the family
// is at most the level at which the adjusted values are read, whatever the
// dependence between the tests. A NaN stays NaN and is no member of the
// family.
func Holm(p []float64) []float64 {
	adj := make([]float64, len(p))
	var order []int
	for i, v := range p {
		adj[i] = math.NaN()
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return p[order[i]] < p[order[j]] })
	floor := 0.0
	for done, i := range order {
		floor = max(floor, min(1, p[i]*float64(len(order)-done)))
		adj[i] = floor
	}
	return adj
}
