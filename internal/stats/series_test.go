package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAutocorrelation(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		// Deviations -2 -1 0 1 2: (2 + 0 + 0 + 2) / 10.
		{[]float64{1, 2, 3, 4, 5}, 0.4},
		{[]float64{1, -1, 1, -1, 1, -1}, -5.0 / 6},
		// The middle has no neighbours: (2 + 2) / 10 without it.
		{[]float64{1, 2, nan, 4, 5, 3}, (2 + 2 + 0) / 10.0},
		{[]float64{1, 2}, nan},
		{[]float64{3, 3, 3, 3}, nan},
		{[]float64{nan, nan, nan}, nan},
	} {
		if got := Autocorrelation(c.x); !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("of %v: %v, want %v", c.x, got, c.want)
		}
	}
	// x_t = 0.8 x_(t-1) + noise.
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 20000)
	for i := 1; i < len(x); i++ {
		x[i] = 0.8*x[i-1] + rng.NormFloat64()
	}
	near(t, "autocorrelation of an AR(1) series", Autocorrelation(x), 0.8, 0.02)
}

func TestSwingAndDeviation(t *testing.T) {
	x := []float64{0, 0, 9, 0, 0, 5, 5, 5, 5, math.NaN(), -3, -3, -3}
	near(t, "swing", Swing(x, 3), 8, 0)
	near(t, "deviation", Deviation([]float64{2, 4, 4, 4, 5, 5, 7, 9, math.NaN()}), math.Sqrt(32.0/7), 1e-12)
	if v := Swing(x, 13); !math.IsNaN(v) {
		t.Errorf("of too few values: %v", v)
	}
	if v := Deviation(x[:1]); !math.IsNaN(v) {
		t.Errorf("of one value: %v", v)
	}
}

// Clopper and Pearson's limits as R's binom.test gives them.
func TestShareInterval(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{0, 10, 0, 0.3084971}, {1, 10, 0.002528579, 0.4450161}, {10, 10, 0.6915029, 1}, {5, 10, 0.1870860, 0.8129140},
	} {
		in := ShareInterval(c.k, c.n, 0.95)
		near(t, "low limit", in.Lo, c.lo, 1e-6)
		near(t, "high limit", in.Hi, c.hi, 1e-6)
		near(t, "share", in.Est, float64(c.k)/float64(c.n), 0)
	}
	if in := ShareInterval(0, 0, 0.95); !math.IsNaN(in.Est) || in.Level != 0 {
		t.Errorf("of nothing: %+v", in)
	}
}

func TestDetectableInFamilyAndHalfWidth(t *testing.T) {
	near(t, "a family of one", DetectableInFamily(2, 12, 1, 0.8), DetectableEffect(2, 12, 0.95, 0.8), 0)
	if one, many := DetectableInFamily(1, 12, 1, 0.8), DetectableInFamily(1, 12, 20, 0.8); !(many > one) {
		t.Errorf("a family of 20 sees %v where one row sees %v", many, one)
	}
	if v := DetectableInFamily(1, 5, 3, 0.8); !math.IsInf(v, 1) {
		t.Errorf("five blocks see %v", v)
	}
	// t(0.975, 9) = 2.262157.
	near(t, "half-width", HalfWidth(3, 10), 2.262157*3/math.Sqrt(10), 1e-5)
	if v := HalfWidth(1, 1); !math.IsInf(v, 1) {
		t.Errorf("of one difference: %v", v)
	}
}
