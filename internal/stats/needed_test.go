package stats

import (
	"fmt"
	"math"
	"testing"
)

// The quantiles of t that detectable adds up stand for the noncentral t,
// which is integrated here: over the estimated deviation s in units of the
// true one, where n-1 times its square is chi-squared.
func TestDetectableAgainstNoncentralT(t *testing.T) {
	for _, n := range []int{7, 8, 10, 14, 20, 50} {
		for alpha, tol := range map[float64]float64{0.05: 0.005, 0.0025: 0.06} {
			df := float64(n - 1)
			c := tQuantile(1-alpha/2, df)
			effect := detectable(1, n, alpha, 0.05, 0.8)
			power, mass := 0.0, 0.0
			const step = 1e-3
			for s := step / 2; s < 6; s += step {
				w := math.Exp((df-1)*math.Log(s) - df*s*s/2)
				mass += w
				power += w * normalTail(c*s-effect*math.Sqrt(float64(n)))
			}
			near(t, fmt.Sprintf("power of %d at %v", n, alpha), power/mass, 0.8, tol)
		}
	}
}

func TestDetectableEffectLimits(t *testing.T) {
	if got := DetectableEffect(1, 5, 0.95, 0.8); !math.IsInf(got, 1) {
		t.Errorf("five blocks can see %v at 95%%", got)
	}
	near(t, "six blocks", DetectableEffect(2, 6, 0.95, 0.8), 2*normalQuantile(math.Pow(0.8, 1.0/6)), 1e-12)
	near(t, "no spread", DetectableEffect(0, 8, 0.95, 0.8), 0, 0)
	for _, got := range []float64{
		DetectableEffect(-1, 8, 0.95, 0.8), DetectableEffect(math.NaN(), 8, 0.95, 0.8),
		DetectableEffect(1, 0, 0.95, 0.8), DetectableEffect(1, 8, 1, 0.8), DetectableEffect(1, 8, 0.95, 0),
	} {
		if got == got {
			t.Errorf("out of range gives %v", got)
		}
	}
}

func TestNeededLimits(t *testing.T) {
	for _, r := range []struct {
		name   string
		d      []float64
		margin float64
		m      int
		want   int
	}{
		{"two differences", []float64{1, 2}, 0.1, 1, 0},
		{"no family", []float64{1, 2, 3}, 0.1, 0, 0},
		{"all equal, far", []float64{1, 1, 1}, 0.1, 20, 6},
		{"all zero", []float64{0, 0, 0}, 0.1, 20, 6},
		{"t alone would say six", spread(50, 0), 1.8, 1, 7}, // six have an interval as wide as their range
		{"all zero, no margin", []float64{0, 0, 0}, 0, 20, MaxNeeded},
		{"far too noisy", []float64{-10, 10, -10, 10}, 0.02, 20, MaxNeeded},
	} {
		if got := Needed(r.d, r.margin, r.m, 0.95); got != r.want {
			t.Errorf("%s: %d blocks, want %d", r.name, got, r.want)
		}
	}
	// More rows, or a margin harder to fit, never need fewer blocks.
	for m := 1; m < 200; m *= 3 {
		if a, b := Needed(spread(20, 0.8), 0.1, m, 0.95), Needed(spread(20, 0.8), 0.1, 3*m, 0.95); a > b {
			t.Errorf("%d rows need %d blocks, %d rows %d", m, a, 3*m, b)
		}
		if a, b := Needed(spread(20, 0), 1, m, 0.95), Needed(spread(20, 0), 0.5, m, 0.95); a > b {
			t.Errorf("a margin of 1 needs %d blocks, of 0.5 %d", a, b)
		}
	}
}

// With the fewest pairs both p and the interval just reach the level.
func TestFewestPairs(t *testing.T) {
	for level, want := range map[float64]int{0.9: 5, 0.95: flipMinPairs, StoppedLevel: 7, 0.99: 8} {
		n := FewestPairs(level)
		if n != want {
			t.Errorf("at %v: %d, want %d", level, n, want)
		}
		for _, k := range []int{n - 1, n} {
			d := make([]float64, k)
			for i := range d {
				d[i] = 1 + float64(i)/100
			}
			p, _ := SignFlip([][]float64{d}, 1)
			if (p[0] <= 1-level) != (k == n) || (SignedRank(d, level).Level >= level) != (k == n) {
				t.Errorf("at %v: %d pairs have p %v and an interval of %v", level, k, p[0], SignedRank(d, level).Level)
			}
		}
	}
}
