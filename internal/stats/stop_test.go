package stats

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLooks(t *testing.T) {
	var looks []int
	for n := 0; len(looks) < 9; n = NextLook(n) {
		looks = append(looks, NextLook(n))
	}
	if want := []int{8, 10, 13, 17, 22, 28, 35, 44, 55}; !slices.Equal(looks, want) {
		t.Errorf("looks at %v, want %v", looks, want)
	}
	for n := range 300 {
		if next := NextLook(n); next <= n || NextLook(next-1) != next {
			t.Fatalf("after %d blocks comes %d, after %d comes %d", n, next, next-1, NextLook(next-1))
		}
	}
}

func TestPrecise(t *testing.T) {
	d := []float64{-0.03, -0.02, -0.01, -0.004, 0.004, 0.01, 0.02, 0.03}
	in := SignedRank(d, StoppedLevel)
	half := max(in.Est-in.Lo, in.Hi-in.Est)
	for _, c := range []struct {
		d    []float64
		half float64
		want bool
	}{
		{d, half, true}, {d, 0.99 * half, false}, {d[:7], 1, false}, {make([]float64, 8), 1e-9, true},
		{d, 0, false}, {d, math.NaN(), false}, {append(slices.Clone(d[:7]), math.NaN()), 1, false}, {nil, 1, false},
	} {
		if got := Precise(c.d, c.half); got != c.want {
			t.Errorf("%v within %v: %v, want %v", c.d, c.half, got, c.want)
		}
	}
}

var stopRuns = flag.Int("stop-runs", 0, "runs of each case in which the rule of stopping by precision is simulated (0: a few, of the cheaper cases; 4000 take about 15 minutes)")

// drawn is one simulated series of differences: rows that are correlated by a
// half, in so many blocks.
type drawn func(rng *rand.Rand, rows, blocks int) [][]float64

// scaled draws block after block. scale is the spread of the next one.
func scaled(scale func(*rand.Rand) float64) drawn {
	return func(rng *rand.Rand, rows, blocks int) [][]float64 {
		d := make([][]float64, rows)
		for range blocks {
			common, s := rng.NormFloat64(), math.Sqrt(0.5)*scale(rng)
			for i := range d {
				d[i] = append(d[i], s*(common+rng.NormFloat64()))
			}
		}
		return d
	}
}

// skewCentre is the pseudo-median of exp(z/2), z normal: the median of the mean
// of two such values. skewSD is the standard deviation.
const skewCentre, skewSD = 1.0594, 0.604

var stopCases = []struct {
	name   string
	effect bool // the differences are not symmetric, so something differs
	draw   drawn
}{
	{"normal", false, scaled(func(*rand.Rand) float64 { return 1 })},
	{"Laplace", false, scaled(func(r *rand.Rand) float64 { return math.Sqrt(r.ExpFloat64()) })},
	{"Student 3", false, scaled(func(r *rand.Rand) float64 {
		c := 0.0
		for range 3 {
			z := r.NormFloat64()
			c += z * z
		}
		return 1 / math.Sqrt(c)
	})},
	{"lognormal", true, func(r *rand.Rand, rows, blocks int) [][]float64 {
		d := scaled(func(*rand.Rand) float64 { return 0.5 })(r, rows, blocks)
		for i := range d {
			for j := range d[i] {
				d[i][j] = (math.Exp(d[i][j]) - skewCentre) / skewSD
			}
		}
		return d
	}},
	{"spread that drifts", false, func(r *rand.Rand, rows, blocks int) [][]float64 {
		w := 0.6 * r.NormFloat64()
		return scaled(func(r *rand.Rand) float64 {
			w += 0.2*r.NormFloat64() - 0.05*w
			return math.Exp(w) / 1.2
		})(r, rows, blocks)
	}},
	{"machine that drifts", false, func(r *rand.Rand, rows, blocks int) [][]float64 {
		d := newMachine(r, rows).inBlocks(blocks, 2)
		for i := range d {
			for j := range d[i] {
				d[i][j] /= 2.4
			}
		}
		return d
	}},
}

// stopped is where a run of those rows stops that looks at the numbers of blocks
// that next gives, and what the interval and the family then say at that level.
func stopped(rows [][]float64, half, level float64, next func(int) int, family bool) (n, covered int, alarm bool) {
	limit := len(rows[0])
	cut := make([][]float64, len(rows))
	var in []Interval
	for n = 0; n < limit; {
		n = min(next(n), limit)
		in = in[:0]
		for i := range rows {
			cut[i] = rows[i][:n]
			v := SignedRank(cut[i], level)
			in = append(in, v)
			if n < limit && max(v.Est-v.Lo, v.Hi-v.Est) > half {
				break
			}
		}
		if len(in) == len(rows) {
			last := in[len(in)-1]
			if n == limit || max(last.Est-last.Lo, last.Hi-last.Est) <= half {
				break
			}
		}
	}
	for _, v := range in {
		if v.Lo <= 0 && 0 <= v.Hi {
			covered++
		}
	}
	if family {
		_, adj := SignFlip(cut, 1)
		alarm = slices.Min(adj) < 1-level
	}
	return n, covered, alarm
}

// stopRunsOf is in how many runs a case is simulated; 0 for not at all.
func stopRunsOf(rows, blocks int) int {
	switch full := *stopRuns; {
	case full > 0 && rows > 1:
		return full / 4
	case full > 0:
		return full
	case rows > 1 && blocks == 15:
		return rounds(50)
	case rows == 1 && blocks <= 40:
		return rounds(500)
	}
	return 0
}

// Whatever number of blocks a run stops at, its intervals cover in 95% and its
// family raises false alarms in 5% at most. One that is looked at after every
// block, and told at 95% and 5%, does neither.
func TestStopKeepsItsErrors(t *testing.T) {
	const limit = 160
	every := func(n int) int { return max(flipMinPairs, n+1) }
	naiveLow := 1.0
	for _, c := range stopCases {
		for _, rows := range []int{1, 20} {
			for _, blocks := range []int{8, 15, 40, 100, 1000} {
				n := stopRunsOf(rows, blocks)
				if n == 0 {
					continue
				}
				// Beyond 14 blocks each family has 20,000 flips.
				family := !c.effect && (*stopRuns > 0 && (rows == 1 || blocks <= 40) || rows == 1 && blocks == 8)
				half := HalfWidth(1, float64(blocks))
				rng := rand.New(rand.NewPCG(uint64(blocks), uint64(rows)))
				var kept, naive stopTally
				for range n {
					d := c.draw(rng, rows, limit)
					kept.add(stopped(d, half, StoppedLevel, NextLook, family))
					naive.add(stopped(d, half, plannedLevel, every, family && *stopRuns > 0))
				}
				text := fmt.Sprintf("%-20s %2d rows, precision of %4d blocks: stops at %3.0f, covers %.1f%%, alarms %s; naive at %3.0f, covers %.1f%%, alarms %s",
					c.name, rows, blocks, kept.mean(), 100*kept.coverage(rows), kept.alarmText(family), naive.mean(), 100*naive.coverage(rows), naive.alarmText(family && *stopRuns > 0))
				t.Log(text)
				// Rows of one family are correlated: families are what counts.
				if kept.coverage(rows) < 0.95-errorOf(0.95, n) || kept.alarm() > 0.05+errorOf(0.05, n) {
					t.Error(text)
				}
				if rows == 1 {
					naiveLow = min(naiveLow, naive.coverage(rows))
				}
			}
		}
	}
	if naiveLow > 0.94 {
		t.Errorf("the naive rule covers in %.1f%% at least: this proves nothing", 100*naiveLow)
	}
}

// stopTally is the sum of some runs.
type stopTally struct{ runs, blocks, covered, alarms int }

func (s *stopTally) add(n, covered int, alarm bool) {
	s.runs++
	s.blocks += n
	s.covered += covered
	if alarm {
		s.alarms++
	}
}

func (s *stopTally) mean() float64             { return float64(s.blocks) / float64(s.runs) }
func (s *stopTally) coverage(rows int) float64 { return float64(s.covered) / float64(s.runs*rows) }
func (s *stopTally) alarm() float64            { return float64(s.alarms) / float64(s.runs) }

func (s *stopTally) alarmText(counted bool) string {
	if !counted {
		return "not counted"
	}
	return fmt.Sprintf("%.1f%%", 100*s.alarm())
}
