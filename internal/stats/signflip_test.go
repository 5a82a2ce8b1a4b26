package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowSignFlip is step-down max-T by its definition, on whole numbers and
// complete rows: t of S1, Q1 is at least t of S2, Q2 just when
// S1^2 Q2 >= S2^2 Q1.
func slowSignFlip(rows [][]int) (p, adj []float64) {
	n, m := len(rows[0]), len(rows)
	type stat struct{ s2, q int }
	atLeast := func(a, b stat) bool {
		if a.q == 0 || b.q == 0 {
			return b.q == 0 || b.s2 == 0 // a row of zeros has t = 0
		}
		return a.s2*b.q >= b.s2*a.q
	}
	at := func(row []int, flip int) (t stat) {
		s := 0
		for j, v := range row {
			if flip>>j&1 == 1 {
				v = -v
			}
			s += v
			t.q += v * v
		}
		t.s2 = s * s
		return t
	}
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ta, tb := at(rows[a], 0), at(rows[b], 0)
		switch {
		case !atLeast(tb, ta):
			return -1
		case !atLeast(ta, tb):
			return 1
		}
		return 0
	})
	p, adj = make([]float64, m), make([]float64, m)
	floor := 0.0
	for k, i := range order {
		own, joint := 0, 0
		for flip := range 1 << n {
			if atLeast(at(rows[i], flip), at(rows[i], 0)) {
				own++
			}
			if slices.ContainsFunc(order[k:], func(j int) bool { return atLeast(at(rows[j], flip), at(rows[i], 0)) }) {
				joint++
			}
		}
		p[i] = math.Ldexp(float64(own), -n)
		floor = max(floor, math.Ldexp(float64(joint), -n))
		adj[i] = floor
	}
	return p, adj
}

func drawRows(t *rapid.T) (whole [][]int, rows [][]float64) {
	n := rapid.IntRange(1, 9).Draw(t, "n")
	m := rapid.IntRange(1, 6).Draw(t, "m")
	for range m {
		shift := rapid.IntRange(-3, 3).Draw(t, "shift")
		row := rapid.SliceOfN(rapid.IntRange(-5, 5), n, n).Draw(t, "row")
		if rapid.IntRange(0, 5).Draw(t, "flat") == 0 {
			row = make([]int, n) // all alike: zeros, or an infinite t
		}
		d := make([]float64, n)
		for j := range row {
			row[j] += shift
			// A scale that no binary fraction has: sums round.
			d[j] = float64(row[j]) * 0.1
		}
		whole, rows = append(whole, row), append(rows, d)
	}
	return whole, rows
}

func TestSignFlipBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, rows := drawRows(t)
		wantP, wantAdj := slowSignFlip(whole)
		p, adj := SignFlip(rows, 1)
		if !slices.Equal(p, wantP) || !slices.Equal(adj, wantAdj) {
			t.Fatalf("rows %v:\n p   %v, want %v\n adj %v, want %v", whole, p, wantP, adj, wantAdj)
		}
	})
}

// Neither a row's unit nor the order of rows and blocks may matter.
func TestSignFlipInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, rows := drawRows(t)
		p, adj := SignFlip(rows, 1)
		perm := rapid.Permutation(index(len(rows))).Draw(t, "rows")
		blocks := rapid.Permutation(index(len(rows[0]))).Draw(t, "blocks")
		moved := make([][]float64, len(rows))
		for i, from := range perm {
			scale := rapid.SampledFrom([]float64{1, -1, 1e-200, 3e150, 0.3}).Draw(t, "scale")
			moved[i] = make([]float64, len(blocks))
			for j, b := range blocks {
				moved[i][j] = rows[from][b] * scale
			}
		}
		q, qadj := SignFlip(moved, 1)
		for i, from := range perm {
			if q[i] != p[from] || qadj[i] != adj[from] {
				t.Fatalf("row %d: p %v adj %v, moved and scaled %v and %v", from, p[from], adj[from], q[i], qadj[i])
			}
		}
	})
}

func index(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// The flip of the data themselves must count however its sum is rounded.
func TestSignFlipCountsTheData(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 6 + rng.IntN(9)
		rows := make([][]float64, 3)
		for i := range rows {
			rows[i] = make([]float64, n)
			for j := range rows[i] {
				rows[i][j] = math.Log(1.57) + 1e-16*rng.NormFloat64()*float64(i)
			}
		}
		p, adj := SignFlip(rows, 1)
		for i := range rows {
			if want := math.Ldexp(1, 1-n); p[i] != want || adj[i] != want {
				t.Fatalf("n = %d, row %d nearly constant: p %v adj %v, want %v", n, i, p[i], adj[i], want)
			}
		}
	}
}

func TestSignFlipMissing(t *testing.T) {
	nan := math.NaN()
	full := []float64{1, 2, 1.5, 0.7, 1.1, 2.2, 1.9, 0.8}
	noise := []float64{1, -2, 1.5, -0.7, 1.1, 2.2, -1.9, 0.8}
	p0, adj0 := SignFlip([][]float64{full, noise}, 1)

	// Neither blocks that no row has nor rows without data change the rest.
	wide := func(d []float64) []float64 { return slices.Insert(slices.Clone(d), 3, nan, nan, math.Inf(1)) }
	p, adj := SignFlip([][]float64{wide(full), wide(noise)}, 1)
	if !slices.Equal(p, p0) || !slices.Equal(adj, adj0) {
		t.Errorf("with empty blocks p %v adj %v, without %v %v", p, adj, p0, adj0)
	}
	p, adj = SignFlip([][]float64{full, {nan, nan}, noise, nil}, 1)
	if p[0] != p0[0] || adj[0] != adj0[0] || p[2] != p0[1] || adj[2] != adj0[1] {
		t.Errorf("with empty rows p %v adj %v, without %v %v", p, adj, p0, adj0)
	}
	if p[1] == p[1] || adj[1] == adj[1] || p[3] == p[3] || adj[3] == adj[3] {
		t.Errorf("rows without data: p %v adj %v", p, adj)
	}

	// A row with few pairs has its own p, no say in the family, and a missing
	// end is the same as NaN.
	p, adj = SignFlip([][]float64{full, {1, 1, 1}, noise, {1, nan, 1, nan, 1, nan, nan, nan}}, 1)
	if p[1] != 0.25 || adj[1] != 1 || p[3] != 0.25 || adj[3] != 1 {
		t.Errorf("rows of three: p %v adj %v", p, adj)
	}
	if adj[0] != adj0[0] || adj[2] != adj0[1] {
		t.Errorf("rows of three moved the others: %v, without %v", adj, adj0)
	}

	// One block short: still a member, its p exact over its own pairs.
	short := slices.Clone(full)
	short[2] = nan
	p, adj = SignFlip([][]float64{short, noise}, 1)
	if want := 2.0 / 128; p[0] != want || adj[0] < want || adj[0] > 0.05 {
		t.Errorf("seven of eight pairs: p %v adj %v, want p %v", p[0], adj[0], want)
	}
	// Equal differences with pairs missing: an infinite t on any scale.
	flat := []float64{0.1, nan, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}
	if p, adj = SignFlip([][]float64{flat, noise}, 1); p[0] != 2.0/128 || adj[0] != 2.0/128 {
		t.Errorf("seven equal of eight: p %v adj %v", p[0], adj[0])
	}
	// All rows have five: that is the plan's own number, and they are a family.
	if p, adj = SignFlip([][]float64{full[:5], noise[:5]}, 1); p[0] != 2.0/32 || adj[0] != 4.0/32 || adj[1] != p[1] {
		t.Errorf("five blocks: p %v adj %v", p, adj)
	}
}

// Rows with different numbers of pairs that are equally unlikely by their own
// t lie close together on the common scale, and stay in their order.
func TestCommonScale(t *testing.T) {
	family := []flipRow{{pairs: 6}, {pairs: 9}, {pairs: 14}, {pairs: 3}}
	join(family)
	if family[3].member || !family[2].member {
		t.Errorf("members: %+v", family)
	}
	for _, tail := range []float64{0.25, 0.05, 0.01, 0.001} {
		var z []float64
		for _, r := range family[:3] {
			df := float64(r.pairs - 1)
			q := tQuantile(1-tail, df)
			z = append(z, math.Sqrt(-math.Log1p(-r.common(q*q/(q*q+df)))*wallace(6)))
		}
		for _, got := range z {
			near(t, "normal value of a t", got, normalQuantile(1-tail), 0.03)
		}
	}
}

func TestSignFlipDegenerate(t *testing.T) {
	if p, adj := SignFlip(nil, 1); len(p) != 0 || len(adj) != 0 {
		t.Errorf("no rows: %v %v", p, adj)
	}
	p, adj := SignFlip([][]float64{{0, 0, 0, 0, 0, 0}, {2, 2, 2, 2, 2, 2}, {-3, -3, -3, -3, -3, -3}}, 1)
	if want := []float64{1, 2.0 / 64, 2.0 / 64}; !slices.Equal(p, want) || !slices.Equal(adj, want) {
		t.Errorf("constant rows: p %v adj %v, want %v", p, adj, want)
	}
	if p, adj = SignFlip([][]float64{{5}, {0}}, 1); p[0] != 1 || adj[0] != 1 || p[1] != 1 || adj[1] != 1 {
		t.Errorf("one block: p %v adj %v", p, adj)
	}
}

// Beyond 14 blocks: the same seed the same answer, never zero, and close to
// the exact p, which the mean's normal approximation gives here.
func TestSignFlipSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rows := make([][]float64, 8)
	for i := range rows {
		rows[i] = make([]float64, 40)
		for j := range rows[i] {
			rows[i][j] = rng.NormFloat64() + 0.08*float64(i)
		}
	}
	rows[7] = slices.Repeat([]float64{1}, 40)
	p, adj := SignFlip(rows, 9)
	q, qadj := SignFlip(rows, 9)
	if !slices.Equal(p, q) || !slices.Equal(adj, qadj) {
		t.Error("the same seed gave two answers")
	}
	if other, _ := SignFlip(rows, 10); slices.Equal(p, other) {
		t.Error("another seed gave the same flips")
	}
	if p[7] != 1.0/flipDraws || adj[7] != 1.0/flipDraws {
		t.Errorf("constant row: p %v adj %v, want %v", p[7], adj[7], 1.0/flipDraws)
	}
	for i, row := range rows[:7] {
		sum, squares := 0.0, 0.0
		for _, v := range row {
			sum += v
			squares += v * v
		}
		near(t, "p", p[i], 2*normalTail(math.Abs(sum)/math.Sqrt(squares)), 0.02)
		if adj[i] < p[i] {
			t.Errorf("row %d: adj %v below p %v", i, adj[i], p[i])
		}
	}

	// 14 blocks exactly, and 14 of a sample's 16: the sample agrees with the
	// exact p to its own error, at most 4 times sqrt(0.25/20000).
	exact, _ := SignFlip([][]float64{rows[3][:14]}, 1)
	wide := [][]float64{append(slices.Clone(rows[3][:14]), math.NaN(), math.NaN()), rows[4][:16]}
	sampled, _ := SignFlip(wide, 1)
	near(t, "p of 14 pairs", sampled[0], exact[0], 0.0142)
	if exact[0] == sampled[0] {
		t.Error("16 blocks were not sampled")
	}
}

func TestSignFlipSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1, 2), rapid.Just(math.NaN())), 0, 10), 0, 8).Draw(t, "rows")
		p, adj := SignFlip(rows, 1)
		for i := range p {
			if p[i] == p[i] && !(adj[i] >= p[i] && adj[i] <= 1) {
				t.Fatalf("row %d of %v: p %v adj %v", i, rows, p[i], adj[i])
			}
		}
	})
}
