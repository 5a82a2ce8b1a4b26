package hist_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"netdelta/internal/hist"
)

// latencies are 4096 round trips: around 20 us, with a long tail to the right.
func latencies() []int64 {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := make([]int64, 4096)
	for i := range samples {
		samples[i] = int64(15000 * math.Exp(0.4*rng.NormFloat64()+rng.ExpFloat64()/2))
	}
	return samples
}

func BenchmarkRecord(b *testing.B) {
	samples := latencies()
	h := hist.New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(samples[i%len(samples)])
	}
}

// The whole range at random: every bucket is touched, no branch is foreseen.
func BenchmarkRecordUniform(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := make([]int64, 1<<14)
	for i := range samples {
		samples[i] = int64(math.Exp(rng.Float64() * math.Log(hist.MaxValue)))
	}
	h := hist.New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(samples[i%len(samples)])
	}
}

func BenchmarkMerge(b *testing.B) {
	into, from := hist.New(), filled(latencies())
	b.ReportAllocs()
	for b.Loop() {
		into.Merge(from)
	}
}

func BenchmarkQuantile(b *testing.B) {
	h := filled(latencies())
	b.ReportAllocs()
	for b.Loop() {
		h.Quantile(0.999)
	}
}

func BenchmarkMarshalJSON(b *testing.B) {
	h := filled(latencies())
	b.ReportAllocs()
	var size int
	for b.Loop() {
		text, err := h.MarshalJSON()
		if err != nil {
			b.Fatal(err)
		}
		size = len(text)
	}
	b.ReportMetric(float64(size), "bytes")
}

func BenchmarkUnmarshalJSON(b *testing.B) {
	text, err := json.Marshal(filled(latencies()))
	if err != nil {
		b.Fatal(err)
	}
	var h hist.Hist
	b.ReportAllocs()
	for b.Loop() {
		if err := h.UnmarshalJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}

// Nothing that runs in or beside a measured window allocates.
func TestNoAllocation(t *testing.T) {
	h, other := hist.New(), filled(latencies())
	v := int64(1)
	for name, f := range map[string]func(){
		"Record":           func() { h.Record(v); v = v*3 + 1 },
		"Record under":     func() { h.Record(-1) },
		"Record over":      func() { h.Record(math.MaxInt64) },
		"Merge":            func() { h.Merge(other) },
		"Quantile":         func() { h.Quantile(0.5) },
		"Mean":             func() { h.Mean() },
		"Reset and refill": func() { h.Reset(); h.Record(5) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func filled(samples []int64) *hist.Hist {
	h := hist.New()
	for _, s := range samples {
		h.Record(s)
	}
	return h
}
