package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// rounds is how often a simulation repeats: a tenth with -short or under the
// race detector, which looks at no more with more rounds.
func rounds(full int) int {
	if testing.Short() || raceDetector {
		return full / 10
	}
	return full
}

// errorOf is 3 standard deviations of a share found in n rounds.
func errorOf(share float64, n int) float64 { return 3 * math.Sqrt(share*(1-share)/float64(n)) }

func TestSignedRankCoverage(t *testing.T) {
	n := rounds(10000)
	for _, dist := range symmetric {
		for _, size := range []int{6, 8, 12} {
			rng := rand.New(rand.NewPCG(uint64(size), 1))
			covered, level := 0, 0.0
			for range n {
				d := make([]float64, size)
				for i := range d {
					d[i] = dist.draw(rng)
				}
				in := SignedRank(d, 0.95)
				if in.Lo <= 0 && 0 <= in.Hi {
					covered++
				}
				level = in.Level
			}
			got := float64(covered) / float64(n)
			t.Logf("%s, n = %d: %.2f%% of the intervals cover, attained level %.2f%%", dist.name, size, 100*got, 100*level)
			// The level is exact, not only a bound.
			near(t, "coverage", got, level, errorOf(level, n))
			if level < 0.95 {
				t.Errorf("n = %d attains %v only", size, level)
			}
		}
	}
}

// Blocks in random order keep the interval's coverage on a drifting machine:
// which variant a spell of luck falls to is tossed anew in each block. All of
// A and then all of B does not.
func TestCoverageUnderDrift(t *testing.T) {
	n := rounds(10000)
	const effect = 2.0 // of the last variant, in deviations of the noise
	for _, c := range []struct{ blocks, variants int }{{6, 2}, {8, 2}, {8, 3}, {12, 3}, {12, 4}} {
		rng := rand.New(rand.NewPCG(uint64(c.blocks), uint64(c.variants)))
		paired, turns := 0, 0
		var in, apart Interval
		for range n {
			rows := newMachine(rng, 1).inBlocks(c.blocks, c.variants)
			d := rows[len(rows)-1]
			for i := range d {
				d[i] += effect
			}
			if in = SignedRank(d, 0.95); in.Lo <= effect && effect <= in.Hi {
				paired++
			}
			a, b := newMachine(rng, 1).inTurn(c.blocks)
			for i := range b[0] {
				b[0][i] += effect
			}
			if apart = Shift(a[0], b[0], 0.95); apart.Lo <= effect && effect <= apart.Hi {
				turns++
			}
		}
		got, inTurn := float64(paired)/float64(n), float64(turns)/float64(n)
		t.Logf("%d blocks of %d variants: %.2f%% of the paired intervals cover, attained level %.2f%%; A then B: %.1f%% of %.2f%%",
			c.blocks, c.variants, 100*got, 100*in.Level, 100*inTurn, 100*apart.Level)
		near(t, fmt.Sprintf("coverage with %+v", c), got, in.Level, errorOf(in.Level, n))
		if inTurn > 0.85 {
			t.Errorf("%+v: A then B covers in %.1f%%: the drift is too weak to prove anything", c, 100*inTurn)
		}
	}
}

func TestShiftAndMedianCoverage(t *testing.T) {
	n := rounds(4000)
	rng := rand.New(rand.NewPCG(2, 2))
	shift, median := 0, 0
	var s, m Interval
	for range n {
		a, b := normals(rng, 7, 0, 1), normals(rng, 9, 3, 1)
		if s = Shift(a, b, 0.95); s.Lo <= 3 && 3 <= s.Hi {
			shift++
		}
		for i := range b {
			b[i] = math.Exp(b[i]) // skew does not matter to the median
		}
		if m = MedianInterval(b, 0.95); m.Lo <= math.Exp(3) && math.Exp(3) <= m.Hi {
			median++
		}
	}
	near(t, "coverage of Shift", float64(shift)/float64(n), s.Level, errorOf(s.Level, n))
	near(t, "coverage of MedianInterval", float64(median)/float64(n), m.Level, errorOf(m.Level, n))
	t.Logf("Shift %.2f%% of %.2f%%, MedianInterval %.2f%% of %.2f%%",
		100*float64(shift)/float64(n), 100*s.Level, 100*float64(median)/float64(n), 100*m.Level)
}

// A against A on a drifting machine: the family of blocks in random order
// keeps its 5%; all of A and then all of B with Welch's t does not.
func TestFalseAlarmsUnderDrift(t *testing.T) {
	n := rounds(4000)
	for _, c := range []struct{ blocks, variants, metrics int }{{6, 3, 10}, {8, 2, 20}, {8, 3, 10}, {10, 3, 10}} {
		rng := rand.New(rand.NewPCG(uint64(c.blocks), 5))
		families, single, rows, welchRows, welchFamilies := 0, 0, 0, 0, 0
		for range n {
			p, adj := SignFlip(newMachine(rng, c.metrics).inBlocks(c.blocks, c.variants), 1)
			alarm := false
			for i := range adj {
				alarm = alarm || adj[i] < 0.05
				if p[i] < 0.05 {
					single++
				}
			}
			if alarm {
				families++
			}

			a, b := newMachine(rng, len(p)).inTurn(c.blocks)
			rows += len(a)
			alarm = false
			for i := range a {
				if _, _, p := Welch(a[i], b[i]); p < 0.05 {
					welchRows++
					alarm = true
				}
			}
			if alarm {
				welchFamilies++
			}
		}
		family, welch := float64(families)/float64(n), float64(welchRows)/float64(rows)
		t.Logf("%d blocks of %d variants, %d rows: blocks and max-T false-alarm in %.1f%% of families (a row's own p in %.1f%% of rows); A then B and Welch in %.1f%% of rows, %.1f%% of families",
			c.blocks, c.variants, rows/n, 100*family, 100*float64(single)/float64(rows), 100*welch, 100*float64(welchFamilies)/float64(n))
		if family > 0.05+errorOf(0.05, n) {
			t.Errorf("%+v: %.1f%% of the families false-alarm at 5%%", c, 100*family)
		}
		if welch < 0.15 {
			t.Errorf("%+v: A then B false-alarms in only %.1f%% of rows: the drift is too weak to prove anything", c, 100*welch)
		}
	}
}

// Pairs that are missing here and there, so that rows differ in their n, cost
// the family nothing of its 5%.
func TestFalseAlarmsWithMissingPairs(t *testing.T) {
	n := rounds(2000)
	rng := rand.New(rand.NewPCG(7, 7))
	families := 0
	for range n {
		rows := newMachine(rng, 20).inBlocks(9, 2)
		for i := range rows[:15] {
			for j := range rows[i] {
				if rng.IntN(5) == 0 {
					rows[i][j] = math.NaN()
				}
			}
		}
		_, adj := SignFlip(rows, 1)
		for _, a := range adj {
			if a < 0.05 {
				families++
				break
			}
		}
	}
	share := float64(families) / float64(n)
	t.Logf("9 blocks, 20 rows, a fifth of the pairs of 15 rows missing: %.1f%% of families", 100*share)
	if share > 0.05+errorOf(0.05, n) {
		t.Errorf("%.1f%% of the families false-alarm at 5%%", 100*share)
	}
}

// One real effect among 19 rows without: with 8 blocks max-T can say so, and
// Holm over the signed-rank test never can.
func TestPowerOfSmallFamily(t *testing.T) {
	n := rounds(1000)
	rng := rand.New(rand.NewPCG(8, 8))
	maxT, holm, wrong := 0, 0, 0
	for range n {
		rows := make([][]float64, 20)
		ranks := make([]float64, len(rows))
		for i := range rows {
			rows[i] = normals(rng, 8, 0, 1)
		}
		for j := range rows[4] {
			rows[4][j] += 3
		}
		for i := range rows {
			ranks[i] = SignedRankP(rows[i])
		}
		_, adj := SignFlip(rows, 1)
		for i := range adj {
			switch {
			case i == 4 && adj[i] < 0.05:
				maxT++
			case adj[i] < 0.05:
				wrong++
			}
		}
		for _, p := range Holm(ranks) {
			if p < 0.05 {
				holm++
			}
		}
	}
	t.Logf("an effect of 3 deviations among 20 rows, 8 blocks: max-T finds it in %.0f%%, Holm over signed ranks %d times of %d; other rows %.1f%%",
		100*float64(maxT)/float64(n), holm, n, 100*float64(wrong)/float64(n))
	if share := float64(maxT) / float64(n); share < 0.8 {
		t.Errorf("max-T found the effect in %.0f%% only", 100*share)
	}
	if holm != 0 {
		t.Errorf("Holm spoke %d times: the smallest it can give is 20 times 2/256", holm)
	}
	if share := float64(wrong) / float64(n); share > 0.05+errorOf(0.05, n) {
		t.Errorf("rows without an effect were found in %.1f%%", 100*share)
	}
}

// spread returns n values with that centre and a deviation of exactly 1.
func spread(n int, centre float64) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = normalQuantile((float64(i) + 0.5) / float64(n))
	}
	_, v := meanVar(d)
	for i := range d {
		d[i] = centre + d[i]/math.Sqrt(v)
	}
	return d
}

// As many blocks as Needed asks for settle the row about as often as it says.
func TestNeededBySimulation(t *testing.T) {
	n := rounds(1000)
	for _, c := range []struct {
		centre, margin float64
		m              int
	}{
		{1.5, 0.1, 1}, {1, 0.1, 1}, {2.5, 0.1, 20}, {1, 0.1, 20}, {0.7, 0.1, 5}, // to show
		{0, 3, 20}, {0, 1.2, 1}, {0.5, 1.5, 20}, {0.1, 0.6, 20}, // to fit
	} {
		need := Needed(spread(50, c.centre), c.margin, c.m, 0.95)
		rng := rand.New(rand.NewPCG(uint64(need), 4))
		settled := 0
		tries := n
		if need > 14 {
			tries = n / 5 // each has 20,000 flips
		}
		for range tries {
			rows := make([][]float64, c.m)
			for i := range rows {
				rows[i] = normals(rng, need, 0, 1)
			}
			for j := range rows[0] {
				rows[0][j] += c.centre
			}
			in := SignedRank(rows[0], 0.95)
			if -c.margin < in.Lo && in.Hi < c.margin {
				settled++
				continue
			}
			if c.centre > c.margin {
				if _, adj := SignFlip(rows, 1); adj[0] < 0.05 {
					settled++
				}
			}
		}
		share := float64(settled) / float64(tries)
		t.Logf("centre %v, margin %v, %d rows: %d blocks settle %.0f%%", c.centre, c.margin, c.m, need, 100*share)
		// Six are the fewest, however easy the row.
		if slack := errorOf(0.8, tries); share < 0.76-slack || need > 6 && share > 0.9+slack {
			t.Errorf("centre %v, margin %v, %d rows: %d blocks settle %.0f%%, planned for 80%%", c.centre, c.margin, c.m, need, 100*share)
		}
	}
}

func TestDetectableEffectBySimulation(t *testing.T) {
	n := rounds(4000)
	for _, size := range []int{6, 7, 8, 10, 13} {
		effect := DetectableEffect(1, size, 0.95, 0.8)
		rng := rand.New(rand.NewPCG(uint64(size), 6))
		found := 0
		for range n {
			if p, _ := SignFlip([][]float64{normals(rng, size, effect, 1)}, 1); p[0] < 0.05 {
				found++
			}
		}
		share := float64(found) / float64(n)
		t.Logf("%d blocks: an effect of %.2f deviations is found in %.0f%%", size, effect, 100*share)
		near(t, fmt.Sprintf("power with %d blocks", size), share, 0.8, 0.04+errorOf(0.8, n))
	}
}
