package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"netdelta/internal/spec"
)

// kendall is Kendall's tau-b of a series with time; 0 for a series that never
// changes.
func kendall(x []float64) float64 {
	sum, untied := 0, 0
	for j := range x {
		for i := range j {
			c := cmp.Compare(x[j], x[i])
			sum += c
			untied += c * c
		}
	}
	if untied == 0 {
		return 0
	}
	pairs := float64(len(x) * (len(x) - 1) / 2)
	return float64(sum) / math.Sqrt(float64(untied)*pairs)
}

// thirdsP is, for each series, the probability that the thirds of any of them
// differ as much by Kruskal and Wallis' statistic if the order of blocks means
// nothing. Whole blocks are put in another order, in all series together; once
// no series can be real any more, no more orders are drawn (Besag and Clifford
// 1991). A series of fewer than six blocks has none.
func thirdsP(levels [][]float64, seed uint64) []float64 {
	p := make([]float64, len(levels))
	ranks := make([][]float64, len(levels))
	observed := make([]float64, len(levels))
	blocks := 0
	for i, x := range levels {
		blocks = len(x)
		ranks[i] = ranked(x)
		observed[i] = thirdsApart(ranks[i], nil)
	}
	order := make([]int, blocks)
	for i := range order {
		order[i] = i
	}
	rng := rand.New(rand.NewPCG(seed, 0x6472696674))
	count := make([]int, len(levels))
	draws := 1 // the order that was
	for i := range count {
		count[i] = 1
	}
	open := func() bool {
		return slices.ContainsFunc(count, func(n int) bool { return n <= 2*serialLevel*permutations })
	}
	for draws < permutations && open() {
		rng.Shuffle(blocks, func(i, j int) { order[i], order[j] = order[j], order[i] })
		most := 0.0
		for i := range ranks {
			most = max(most, thirdsApart(ranks[i], order))
		}
		for i := range count {
			if most >= observed[i]-negligible {
				count[i]++
			}
		}
		draws++
	}
	for i := range p {
		p[i] = float64(count[i]) / float64(draws)
		if _, n := average(levels[i]); n < spec.MinBlocks {
			p[i] = math.NaN()
		}
	}
	return p
}

// ranked is the rank of each value, less the mean rank, in units of their
// standard deviation; NaN for what is missing, and 0 where all are the same.
func ranked(x []float64) []float64 {
	ranks := make([]float64, len(x))
	n, squares := 0.0, 0.0
	for i, v := range x {
		switch {
		case math.IsNaN(v):
			ranks[i] = math.NaN()
			continue
		}
		n++
		for _, o := range x {
			if !math.IsNaN(o) {
				ranks[i] += float64(cmp.Compare(v, o)) / 2
			}
		}
		squares += ranks[i] * ranks[i]
	}
	if squares > 0 {
		for i := range ranks {
			ranks[i] *= math.Sqrt(n / squares)
		}
	}
	return ranks
}

// thirdsApart is Kruskal and Wallis' statistic of the thirds of what is there,
// but for a factor; order is that of the blocks, nil for as they are.
func thirdsApart(ranks []float64, order []int) float64 {
	_, n := average(ranks)
	h, sum, at, third := 0.0, 0.0, 0, 0
	begin := 0
	for i := range ranks {
		v := ranks[i]
		if order != nil {
			v = ranks[order[i]]
		}
		if math.IsNaN(v) {
			continue
		}
		sum += v
		at++
		if end := (third + 1) * n / 3; at == end {
			if end > begin {
				h += sum * sum / float64(end-begin)
			}
			begin, sum = end, 0
			third++
		}
	}
	return h
}
