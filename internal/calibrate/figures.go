package calibrate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// figures are a series' complete blocks, in the order in which they ran.
type figures struct {
	plan   spec.Plan
	rows   []row
	starts []time.Time // when each block began
	ends   []time.Time
}

// row is one figure of one test: values has for each block those of the two
// levels, of logarithms where the figure is always positive. first says in which
// blocks the baseline's came first.
type row struct {
	test   spec.Test
	def    result.Definition
	values [2][]float64
	first  []bool
}

// head says that the row stands for its test.
func (r *row) head() bool { return r.def.Rank == result.Headline }

// differences returns the second level's less the baseline's, of some blocks.
func (r *row) differences(from, to int) []float64 {
	d := make([]float64, to-from)
	for i := range d {
		d[i] = r.values[1][from+i] - r.values[0][from+i]
	}
	return d
}

// inTurn returns the values of some blocks in the order in which they were
// measured, the first half and the second.
func (r *row) inTurn(from, to int) (a, b []float64) {
	var all []float64
	for i := from; i < to; i++ {
		x, y := r.values[0][i], r.values[1][i]
		if !r.first[i] {
			x, y = y, x
		}
		all = append(all, x, y)
	}
	return all[:to-from], all[to-from:]
}

// means are the blocks' means of both levels.
func (r *row) means() []float64 {
	m := make([]float64, len(r.first))
	for i := range m {
		m[i] = (r.values[0][i] + r.values[1][i]) / 2
	}
	return m
}

// place is where a trial belongs.
type place struct {
	block int
	test  spec.Test
	level string
}

// figuresOf sorts a series' trials into blocks. Of several attempts at a trial
// the last counts. Blocks in which a trial is missing are left out.
func figuresOf(s Series) *figures {
	f := &figures{plan: s.Plan}
	factor := s.Plan.Factors[0]
	base := s.Plan.Baseline[factor.Name]
	levels := [2]string{base, factor.Levels[0]}
	if levels[1] == base {
		levels[1] = factor.Levels[1]
	}
	at := map[place]*result.Trial{}
	for i := range s.Trials {
		t := &s.Trials[i]
		p := place{t.Block, t.Test, t.Variant[factor.Name]}
		if at[p] == nil || at[p].Attempt <= t.Attempt {
			at[p] = t
		}
	}
	// pairs are the trials of each test and complete block.
	pairs := make([][][2]*result.Trial, len(s.Plan.Tests))
	blocks := map[int]bool{}
	for p := range at {
		blocks[p.block] = true
	}
	for _, b := range inOrder(blocks, s.Trials) {
		var all [][2]*result.Trial
		for _, t := range s.Plan.Tests {
			pair := [2]*result.Trial{at[place{b, t, levels[0]}], at[place{b, t, levels[1]}]}
			if pair[0] != nil && pair[1] != nil {
				all = append(all, pair)
			}
		}
		if len(all) < len(s.Plan.Tests) {
			continue
		}
		begin, end := all[0][0].Start, all[0][0].Start
		for t, pair := range all {
			pairs[t] = append(pairs[t], pair)
			for _, x := range pair {
				if x.Start.Before(begin) {
					begin = x.Start
				}
				if e := x.Start.Add(x.Warmup + x.Window); e.After(end) {
					end = e
				}
			}
		}
		f.starts, f.ends = append(f.starts, begin), append(f.ends, end)
	}
	for t, test := range s.Plan.Tests {
		f.rows = append(f.rows, rowsOf(test, pairs[t])...)
	}
	return f
}

// inOrder returns the blocks in the order in which they began.
func inOrder(blocks map[int]bool, trials []result.Trial) []int {
	began := map[int]time.Time{}
	for _, t := range trials {
		if b, ok := began[t.Block]; !ok || t.Start.Before(b) {
			began[t.Block] = t.Start
		}
	}
	order := make([]int, 0, len(blocks))
	for b := range blocks {
		order = append(order, b)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(began[a].Compare(began[b]), cmp.Compare(a, b)) })
	return order
}

// rowsOf makes a row of each figure that a report's main family has of the test.
// A figure that is zero in any trial has no relative change: its row is left
// out, as a comparison leaves it undecided.
func rowsOf(test spec.Test, pairs [][2]*result.Trial) []row {
	var defs []result.Definition
	for _, d := range result.Definitions(test) {
		if d.Rank != result.Detail {
			defs = append(defs, d)
		}
	}
	rows := make([]row, len(defs))
	missing, zero := make([]bool, len(defs)), make([]bool, len(defs))
	for i, d := range defs {
		rows[i] = row{test: test, def: d}
		missing[i] = true
	}
	for _, pair := range pairs {
		var of [2]map[result.Taken]float64
		for side, t := range pair {
			of[side] = map[result.Taken]float64{}
			for _, m := range t.Metrics() {
				of[side][m.Taken()] = m.Value
			}
		}
		for i, d := range defs {
			r := &rows[i]
			r.first = append(r.first, pair[0].Start.Before(pair[1].Start))
			for side := range of {
				v, ok := of[side][d.Taken()]
				switch {
				case !ok:
					v = math.NaN()
				case d.Scale == result.Percent && v <= 0:
					zero[i] = true
				case d.Scale == result.Percent:
					v = math.Log(v)
				}
				missing[i] = missing[i] && !ok
				r.values[side] = append(r.values[side], v)
			}
		}
	}
	var kept []row
	for i := range rows {
		if !missing[i] && !zero[i] {
			kept = append(kept, rows[i])
		}
	}
	return kept
}
