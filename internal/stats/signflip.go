package stats

import (
	"cmp"
	"math"
	"slices"
)

const (
	// flipAllBlocks is the largest number of blocks for which every joint
	// sign flip is tried.
	flipAllBlocks = 14
	// flipDraws is the number of flips beyond that, the identity included.
	flipDraws = 20000
	// flipMinPairs is the fewest pairs that can reach 5%: 2/2^6.
	flipMinPairs = 6
	// flipTie is how close two statistics, on their scale of 0 to 1, count as
	// equal. Sums of the same differences in another order agree to some
	// 1e-14; the rest is room for the rounding of the differences themselves.
	// Counting a near tie can only raise p.
	flipTie = 1e-9
)

// SignFlip tests every row of a family of paired differences by sign flips.
// rows[i][j] is row i's difference in block j; NaN marks a missing pair, and
// so does the end of a row that is shorter than others.
//
// p[i] is the row's own two-sided p: the share of all flips whose |t| is at
// least that of the data. adj[i] is the family's, by the step-down max-T
// method of Westfall and Young (Resampling-Based Multiple Testing, 1993,
// algorithm 4.1, with sign flips for the resampling). A flip turns the signs
// of whole blocks, in all rows together, so the dependence between rows is
// kept and correlated rows cost little. adj is never below p, and never falls
// as |t| falls.
//
// With up to 14 blocks all 2^n flips are used and both are exact; beyond, it
// is 20,000 that the seed decides, the identity among them, so that neither
// can be zero. Six blocks are the fewest with which a p below 5% exists.
//
// A missing pair leaves its block out of that row alone. A row with fewer
// pairs than the fullest row, and fewer than the 6 that can reach 5%, gets
// its own p but adj = 1, and stays out of the maximum: with so few pairs |t|
// is often huge by chance and would only blunt the other rows. The other rows
// meet on one scale, where their pairs differ in number, by Wallace's normal
// approximation to t.
//
// A row of zeros has p = adj = 1. A row of equal differences other than zero
// has an infinite t, which ties with any other infinite t. A row without data
// gives NaN twice and is no member of the family.
func SignFlip(rows [][]float64, seed uint64) (p, adj []float64) {
	p, adj = make([]float64, len(rows)), make([]float64, len(rows))
	blocks := liveBlocks(rows)
	family := make([]flipRow, len(rows))
	for i, r := range rows {
		family[i] = newFlipRow(i, r, blocks)
	}
	join(family)
	// Weakest first: the maximum over a row and all weaker ones then grows
	// row by row, and each row's turn needs only the maximum so far.
	slices.SortStableFunc(family, func(a, b flipRow) int { return cmp.Compare(a.observed, b.observed) })

	flips := newFlips(len(blocks), seed)
	highest := make([]float64, flips.count)
	for i := range family {
		r := &family[i]
		own, joint := r.count(flips, highest)
		p[r.index] = float64(own) / float64(flips.count)
		adj[r.index] = float64(joint) / float64(flips.count)
		if r.pairs == 0 {
			p[r.index], adj[r.index] = math.NaN(), math.NaN()
		}
	}
	// Step down from the strongest: no row may look surer than a stronger one.
	floor := 0.0
	for i := len(family) - 1; i >= 0; i-- {
		if r := &family[i]; r.member {
			floor = max(floor, adj[r.index])
			adj[r.index] = floor
		}
	}
	return p, adj
}

// liveBlocks returns the blocks in which at least one row has a pair.
func liveBlocks(rows [][]float64) []int {
	var live []bool
	for _, r := range rows {
		for j, v := range r {
			if j == len(live) {
				live = append(live, false)
			}
			live[j] = live[j] || isFinite(v)
		}
	}
	var blocks []int
	for j, l := range live {
		if l {
			blocks = append(blocks, j)
		}
	}
	return blocks
}
