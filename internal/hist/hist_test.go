package hist_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/hist"
)

func TestEmpty(t *testing.T) {
	used := filled([]int64{-3, 7, math.MaxInt64})
	used.Reset()
	for name, h := range map[string]*hist.Hist{"New": hist.New(), "zero": {}, "Reset": used} {
		if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Under() != 0 || h.Over() != 0 {
			t.Errorf("%s: count %d, min %d, max %d, under %d, over %d; want zeros",
				name, h.Count(), h.Min(), h.Max(), h.Under(), h.Over())
		}
		if !math.IsNaN(h.Mean()) || !math.IsNaN(h.Quantile(0.5)) {
			t.Errorf("%s: mean %v and median %v of nothing", name, h.Mean(), h.Quantile(0.5))
		}
		for b, c := range h.Buckets() {
			t.Errorf("%s: bucket %v has %d samples", name, b, c)
		}
		if !h.Equal(hist.New()) {
			t.Errorf("%s: not equal to a new one", name)
		}
	}
}

func TestOutOfRange(t *testing.T) {
	h := filled([]int64{math.MinInt64, -1, 0, 1, hist.MaxValue, hist.MaxValue + 1, math.MaxInt64})
	if h.Count() != 7 || h.Under() != 3 || h.Over() != 2 {
		t.Errorf("count %d, under %d, over %d; want 7, 3, 2", h.Count(), h.Under(), h.Over())
	}
	if h.Min() != 1 || h.Max() != math.MaxInt64 {
		t.Errorf("min %d, max %d", h.Min(), h.Max())
	}
	var got []hist.Bucket
	var counts []int64
	for b, c := range h.Buckets() {
		got, counts = append(got, b), append(counts, c)
	}
	want := []hist.Bucket{{Low: 1, High: 1}, {Low: 223 << 28, High: hist.MaxValue}, {Low: hist.MaxValue + 1, High: math.MaxInt64}}
	if !slices.Equal(got, want) || !slices.Equal(counts, []int64{4, 1, 2}) {
		t.Errorf("buckets %v with %v samples; want %v with 4, 1, 2", got, counts, want)
	}
	// The sixth of seven samples is above the range: its quantile is Max.
	for q, want := range map[float64]float64{0: 1, 0.4: 1, 6.0 / 7: math.MaxInt64, 1: math.MaxInt64} {
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

// Two of the largest samples overflow 64 bits.
func TestMeanIsExact(t *testing.T) {
	h := filled([]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64})
	if got, want := h.Mean(), float64(math.MaxInt64); got != want {
		t.Errorf("mean of three of the largest is %v, want %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Int64Range(1, math.MaxInt64), 1, 50).Draw(t, "samples")
		sum := new(big.Int)
		for _, s := range samples {
			sum.Add(sum, big.NewInt(s))
		}
		want, _ := new(big.Rat).SetFrac(sum, big.NewInt(int64(len(samples)))).Float64()
		if got := filled(samples).Mean(); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("mean %v, want %v", got, want)
		}
	})
}

func TestQuantileArgument(t *testing.T) {
	h := filled([]int64{10, 20, 30})
	for _, q := range []float64{-0.001, 1.001, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := h.Quantile(q); !math.IsNaN(got) {
			t.Errorf("quantile %v is %v, want NaN", q, got)
		}
	}
	for q, want := range map[float64]float64{0: 10, 0.33: 10, 0.34: 20, 0.5: 20, 0.66: 20, 0.67: 30, 1: 30} {
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

// Nearest rank is not fooled by decimals that binary can't hold: with the
// samples 1 to n, the k/1000 quantile is the sample ceil(k*n/1000).
func TestQuantileRank(t *testing.T) {
	for n := int64(1); n <= 255; n++ {
		h := hist.New()
		for v := int64(1); v <= n; v++ {
			h.Record(v)
		}
		for k := int64(0); k <= 1000; k++ {
			want := max((k*n+999)/1000, 1)
			if got := h.Quantile(float64(k) / 1000); got != float64(want) {
				t.Fatalf("n = %d: quantile %d/1000 is %v, want %d", n, k, got, want)
			}
		}
	}
}

// relativeError is what the package promises of a quantile.
const relativeError = 0.004

// Every quantile is within the bound of the exact one, and they rise with q.
func TestQuantileError(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	shapes := map[string]func() float64{
		"log-uniform": func() float64 { return math.Exp(rng.Float64() * math.Log(hist.MaxValue)) },
		"uniform":     func() float64 { return 1 + rng.Float64()*(hist.MaxValue-1) },
		"log-normal":  func() float64 { return 20000 * math.Exp(rng.NormFloat64()/2) },
		"two humps":   func() float64 { return 1e3 + 1e7*float64(rng.IntN(2)) + 100*rng.ExpFloat64() },
		"small":       func() float64 { return 1 + 300*rng.Float64() },
	}
	for name, draw := range shapes {
		for _, n := range []int{1, 2, 3, 10, 1000, 20000} {
			samples := make([]int64, n)
			for i := range samples {
				samples[i] = min(int64(draw()), hist.MaxValue)
			}
			h := filled(samples)
			slices.Sort(samples)
			before := 0.0
			for k := range 1001 {
				got := h.Quantile(float64(k) / 1000)
				want := float64(samples[max((k*n+999)/1000, 1)-1])
				if math.Abs(got-want) > relativeError*want {
					t.Fatalf("%s, n = %d: quantile %d/1000 is %v, want %v within %v", name, n, k, got, want, relativeError)
				}
				if got < before {
					t.Fatalf("%s, n = %d: quantile %d/1000 is %v, the one before %v", name, n, k, got, before)
				}
				before = got
			}
			if h.Min() != samples[0] || h.Max() != samples[n-1] {
				t.Fatalf("%s, n = %d: min %d, max %d; want %d, %d", name, n, h.Min(), h.Max(), samples[0], samples[n-1])
			}
		}
	}
}

// anySample draws from the whole of int64, mostly of the size of a latency.
func anySample() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		v := rapid.Int64().Draw(t, "bits")
		return v >> rapid.IntRange(0, 63).Draw(t, "shift")
	})
}

// Merging parts is the same as recording all samples in one.
func TestMerge(t *testing.T) {
	// Sums that each take more than 64 bits.
	large := filled([]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64})
	large.Merge(large)
	if large.Count() != 6 || large.Mean() != math.MaxInt64 {
		t.Errorf("twice three of the largest are %d with mean %v", large.Count(), large.Mean())
	}
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(anySample(), 0, 200).Draw(t, "samples")
		parts := []*hist.Hist{hist.New(), hist.New(), {}, nil}
		for _, s := range samples {
			parts[rapid.IntRange(0, 2).Draw(t, "part")].Record(s)
		}
		merged := hist.New()
		for _, p := range parts {
			merged.Merge(p)
		}
		if diff := cmp.Diff(filled(samples), merged); diff != "" {
			t.Fatal(diff)
		}
		if merged.Count() != int64(len(samples)) {
			t.Fatalf("%d of %d samples counted", merged.Count(), len(samples))
		}
	})
}

func TestEqual(t *testing.T) {
	h := filled([]int64{5, 1000, 70000})
	for name, c := range map[string]struct {
		other *hist.Hist
		want  bool
	}{
		"order":         {filled([]int64{70000, 5, 1000}), true},
		"one more":      {filled([]int64{5, 1000, 70000, 70000}), false},
		"within bucket": {filled([]int64{5, 1001, 70000}), false}, // the sums differ
		"empty":         {hist.New(), false},
		"nil":           {nil, false},
	} {
		if got := h.Equal(c.other); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if got := cmp.Equal(c.other, h); got != c.want {
			t.Errorf("%s: cmp.Equal says %v", name, got)
		}
	}
	if !(*hist.Hist)(nil).Equal(nil) {
		t.Error("nil is not equal to nil")
	}
}
