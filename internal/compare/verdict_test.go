package compare

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// evidence makes a row in percent with that interval and p.
func evidence(n int, est, lo, hi, pAdj float64, better result.Better) row {
	d := make([]float64, n)
	for i := range d {
		d[i] = math.Log1p((lo + (hi-lo)*float64(i)/float64(max(1, n-1))) / 100)
	}
	return row{differences: d, Comparison: Comparison{
		N: n, Scale: Percent, Margin: 2, Better: better,
		DeltaPct: number(est), LoPct: number(lo), HiPct: number(hi), PAdj: number(pAdj),
	}}
}

func TestVerdict(t *testing.T) {
	const lower, higher = result.Lower, result.Higher
	for _, c := range []struct {
		name   string
		row    row
		want   Verdict
		real   bool
		needed bool // blocks are named
	}{
		{"longer round trips", evidence(10, 57, 52, 60, 0.004, lower), Worse, false, false},
		{"shorter round trips", evidence(10, -20, -22, -18, 0.004, lower), Better, false, false},
		{"more goodput", evidence(10, 10, 8, 12, 0.004, higher), Better, false, false},
		{"less goodput", evidence(10, -10, -12, -8, 0.004, higher), Worse, false, false},
		{"inside the margin", evidence(10, 0.1, -1, 1, 0.9, lower), Same, false, false},
		{"inside and real", evidence(10, 1, 0.5, 1.5, 0.004, lower), Same, true, false},
		{"inside and real, downwards", evidence(10, -1, -1.5, -0.5, 0.004, lower), Same, true, false},
		{"touches zero", evidence(10, 1, 0, 1.5, 0.2, lower), Same, false, false},
		{"touches the margin", evidence(10, 1, 0, 2, 0.2, lower), Unsure, false, true},
		{"real and over the margin", evidence(10, 2, 1.5, 2.5, 0.004, lower), Worse, false, false},
		{"p at the level", evidence(10, 57, 52, 60, 0.05, lower), Unsure, false, true},
		{"p just below", evidence(10, 57, 52, 60, 0.0499, lower), Worse, false, false},
		{"wide", evidence(10, 5, -10, 20, 0.4, lower), Unsure, false, true},
		{"six blocks", evidence(6, 57, 52, 60, 0.03, lower), Worse, false, false},
		{"five blocks", evidence(5, 57, 52, 60, 0.03, lower), Unsure, false, true},
		{"five blocks, inside", evidence(5, 0, -1, 1, 1, lower), Unsure, false, true},
		{"one block", evidence(1, 57, math.NaN(), math.NaN(), 1, lower), Unsure, false, true},
		{"nothing", evidence(0, math.NaN(), math.NaN(), math.NaN(), math.NaN(), lower), Unsure, false, true},
		{"hopeless", func() row {
			r := evidence(10, math.NaN(), math.NaN(), math.NaN(), math.NaN(), lower)
			r.hopeless = true
			return r
		}(), Unsure, false, false},
	} {
		c.row.judge(10, familyLevel)
		if c.row.Verdict != c.want || c.row.Real != c.real || (c.row.BlocksNeeded > 0) != c.needed {
			t.Errorf("%s: %s, real %v, %d blocks needed; want %s, %v, %v",
				c.name, c.row.Verdict, c.row.Real, c.row.BlocksNeeded, c.want, c.real, c.needed)
		}
		if c.row.N < spec.MinBlocks && c.row.BlocksNeeded != spec.MinBlocks {
			t.Errorf("%s: %d blocks needed, want %d", c.name, c.row.BlocksNeeded, spec.MinBlocks)
		}
		if c.row.BlocksNeeded > 0 && c.row.BlocksNeeded <= c.row.N {
			t.Errorf("%s: needs %d blocks and has %d", c.name, c.row.BlocksNeeded, c.row.N)
		}
	}
}

// Whatever the figures: the other direction of better turns better and worse
// round and nothing else, and no verdict claims what the row doesn't bear.
func TestVerdictHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "n")
		lo := rapid.Float64Range(-50, 50).Draw(t, "lo")
		hi := lo + rapid.Float64Range(0, 50).Draw(t, "width")
		est := lo + (hi-lo)*rapid.Float64Range(0, 1).Draw(t, "est")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		a := evidence(n, est, lo, hi, p, result.Lower)
		b := evidence(n, est, lo, hi, p, result.Higher)
		a.judge(7, familyLevel)
		b.judge(7, familyLevel)
		turned := map[Verdict]Verdict{Better: Worse, Worse: Better, Same: Same, Unsure: Unsure}
		if turned[a.Verdict] != b.Verdict || a.BlocksNeeded != b.BlocksNeeded || a.Real != b.Real {
			t.Fatalf("lower gives %s, higher %s", a.Verdict, b.Verdict)
		}
		switch a.Verdict {
		case Better, Worse:
			if n < spec.MinBlocks || p >= 0.05 || (a.Verdict == Worse) != (est > 0) {
				t.Fatalf("%s with n %d, p %v, shift %v", a.Verdict, n, p, est)
			}
		case Same:
			if n < spec.MinBlocks || lo <= -2 || hi >= 2 {
				t.Fatalf("same with n %d, %v to %v", n, lo, hi)
			}
		case Unsure:
			if n >= spec.MinBlocks && (p < 0.05 && est != 0 || lo > -2 && hi < 2) {
				t.Fatalf("unsure with n %d, p %v, %v to %v", n, p, lo, hi)
			}
		}
	})
}

func TestMargin(t *testing.T) {
	plan := &spec.Plan{Margin: 0.07, Window: 200 * time.Millisecond}
	long := &spec.Plan{Margin: 0.07, Window: 10 * time.Second}
	share := result.Definition{Scale: Difference, Unit: unit.Share}
	count := result.Definition{Scale: Difference, Unit: unit.PerSecond}
	for _, c := range []struct {
		name     string
		plan     *spec.Plan
		d        result.Definition
		baseline float64
		want     float64
	}{
		{"percent", plan, result.Definition{Scale: Percent}, 1e6, 7},
		{"share", plan, share, 0.5, 0.07},
		{"count, one a window", plan, count, 10, 5},
		{"count, one a second", long, count, 10, 1},
		{"count, a part of many", plan, count, 1000, 70},
		{"count, none", plan, count, 0, 5},
		{"count, not known", plan, count, math.NaN(), 5},
	} {
		if got := margin(c.plan.Margin, c.plan.Window, c.d, c.baseline); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
