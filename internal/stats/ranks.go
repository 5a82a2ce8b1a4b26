package stats

import (
	"cmp"
	"slices"
)

// midranks returns twice the rank (from 2) of each value, ties sharing their
// mean rank: doubled, a rank is a whole number. It also returns the sum of
// t^3 - t over the groups of t tied values.
func midranks(x []float64) (doubled []int, ties float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	doubled = make([]int, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, o := range order[i:j] {
			doubled[o] = i + 1 + j // twice the mean of i+1 .. j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return doubled, ties
}
