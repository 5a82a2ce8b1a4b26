package calibrate

import (
	"math/rand/v2"
	"time"

	"netdelta/internal/stats"
)

const (
	// level is that of the family in a comparison, and of Welch's test.
	level = 0.05
	// confidence is that of every interval.
	confidence = 0.95
	// redraws is about how many comparisons with redrawn labels are made for one
	// number of blocks, and fewRedraws where each has thousands of flips.
	redraws, fewRedraws = 400, 100
	// cheapBlocks is the most blocks of which all flips are few.
	cheapBlocks = 12
)

// alarmSizes are the numbers of blocks of which comparisons are made.
var alarmSizes = []int{6, 10, 20}

// alarms counts what comparisons of n consecutive blocks see, and false where
// there is not even one.
func (f *figures) alarms(n int, seed uint64) (Alarms, bool) {
	chunks := len(f.starts) / n
	if chunks == 0 || len(f.rows) == 0 {
		return Alarms{}, false
	}
	a := Alarms{Blocks: n}
	var spans []float64
	for c := range chunks {
		from, to := c*n, (c+1)*n
		spans = append(spans, float64(f.ends[to-1].Sub(f.starts[from])))
		seen := f.seen(from, to)
		a.Paired.add(seen.Paired > 0)
		a.InTurn.add(seen.InTurn > 0)
		a.InTurnHead.add(seen.InTurnHead > 0)
		a.InTurnRows.Count += seen.InTurn
		a.InTurnRows.Of += seen.Rows
	}
	a.SpanNS = int64(time.Duration(stats.Median(spans)))
	draws := redraws
	if n > cheapBlocks {
		draws = fewRedraws
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range draws {
		swapped := make([]bool, n)
		for j := range swapped {
			swapped[j] = rng.IntN(2) == 0
		}
		c := i % chunks
		a.Redrawn.add(f.differing(c*n, (c+1)*n, swapped) > 0)
	}
	for _, s := range []*Share{&a.Paired, &a.Redrawn, &a.InTurn, &a.InTurnHead, &a.InTurnRows} {
		s.complete()
	}
	return a, true
}

func (s *Share) add(is bool) {
	s.Of++
	if is {
		s.Count++
	}
}

// complete works out the share and its interval.
func (s *Share) complete() {
	in := stats.ShareInterval(s.Count, s.Of, confidence)
	s.Pct, s.LoPct, s.HiPct = number(100*in.Est), number(100*in.Lo), number(100*in.Hi)
}
