package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: means 2 and 6, variances 1 and 4, so the standard error is
// sqrt(5/3), Satterthwaite's df are (5/3)^2/((1/3)^2/2+(4/3)^2/2) = 50/17, and
// the quantile of t at 0.975 and 2.941 df is 3.2204.
func TestWelchShiftByHand(t *testing.T) {
	got := WelchShift([]float64{1, 2, 3}, []float64{4, 6, 8}, 0.95)
	half := tQuantile(0.975, 50./17) * math.Sqrt(5./3)
	if got.Est != 4 || got.Level != 0.95 || math.Abs(got.Hi-4-half) > 1e-12 || math.Abs(4-got.Lo-half) > 1e-12 || math.Abs(half-4.157) > 0.01 {
		t.Errorf("%+v, half width %v", got, half)
	}
	// The interval leaves out zero where the test's p is below 5%.
	if _, _, p := Welch([]float64{1, 2, 3}, []float64{4, 6, 8}); (p < 0.05) != (got.Lo > 0) {
		t.Errorf("p is %v, the interval %+v", p, got)
	}
	for _, c := range []struct {
		a, b []float64
		est  float64
	}{
		{[]float64{1, 1, 1}, []float64{3, 3, 3}, 2}, {[]float64{1}, []float64{3, 4}, 2.5}, {nil, []float64{1, 2}, math.NaN()},
	} {
		got := WelchShift(c.a, c.b, 0.95)
		if !(got.Est == c.est || math.IsNaN(got.Est) && math.IsNaN(c.est)) || (got.Level > 0) != (len(c.a) > 1) {
			t.Errorf("%v, %v: %+v", c.a, c.b, got)
		}
	}
}

// The interval covers the truth at least as often as it promises.
func TestWelchShiftCovers(t *testing.T) {
	const draws = 4000
	for _, c := range []struct {
		na, nb int
		sb     float64
	}{{3, 3, 1}, {3, 6, 1}, {4, 4, 2}} {
		rng := rand.New(rand.NewPCG(9, uint64(c.na*10+c.nb)))
		hit := 0
		for range draws {
			a, b := make([]float64, c.na), make([]float64, c.nb)
			for i := range a {
				a[i] = rng.NormFloat64()
			}
			for i := range b {
				b[i] = 1 + c.sb*rng.NormFloat64()
			}
			if s := WelchShift(a, b, 0.95); s.Lo <= 1 && 1 <= s.Hi {
				hit++
			}
		}
		share := float64(hit) / draws
		t.Logf("%d against %d: covers %.1f%%", c.na, c.nb, 100*share)
		if share < 0.937 || share > 0.985 {
			t.Errorf("%d against %d: an interval of 95%% covers %.1f%%", c.na, c.nb, 100*share)
		}
	}
}

// What NeededEach answers is seen about as often as it plans for.
func TestNeededEach(t *testing.T) {
	a, b := []float64{-1, 0, 1}, []float64{0.5, 1.5, 2.5} // sd 1, shift 1.5
	n := NeededEach(a, b, 0.1, 1)
	rng := rand.New(rand.NewPCG(3, 4))
	const draws = 2000
	seen := 0
	for range draws {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), 1.5+rng.NormFloat64()
		}
		if _, _, p := Welch(x, y); p < 0.05 {
			seen++
		}
	}
	t.Logf("%d a side: seen in %d of %d", n, seen, draws)
	if seen < draws*75/100 || seen > draws*88/100 {
		t.Errorf("with %d a side it is seen in %d of %d", n, seen, draws)
	}
	for _, c := range []struct {
		a, b   []float64
		margin float64
		m      int
		want   int
	}{
		{nil, b, 1, 1, 0}, {[]float64{1}, []float64{2}, 1, 1, 0}, {a, b, 1, 0, 0},
		{[]float64{1, 1}, []float64{2, 2}, 0.1, 20, 3}, {a, a, 1e-6, 1, MaxNeeded},
	} {
		if got := NeededEach(c.a, c.b, c.margin, c.m); got != c.want {
			t.Errorf("NeededEach(%v, %v, %v, %d) is %d, want %d", c.a, c.b, c.margin, c.m, got, c.want)
		}
	}
}
