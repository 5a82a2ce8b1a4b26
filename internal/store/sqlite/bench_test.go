package sqlite

import (
	"math"
	"math/rand/v2"
	"testing"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
)

// typical is so many trials of one second of round trips.
func typical(n int) []result.Trial {
	r := rand.New(rand.NewPCG(1, 2))
	rtt := hist.New()
	for range 30_000 {
		rtt.Record(int64(20_000 * math.Exp(r.NormFloat64()/5)))
	}
	trials := make([]result.Trial, n)
	for i := range trials {
		trials[i] = storetest.NewTrial(2 * i)
		trials[i].Local.RTT = rtt
		trials[i].Remote.Warnings = nil
	}
	return trials
}

func BenchmarkAppendOne(b *testing.B) {
	s := openAt(b, newPath(b))
	run := storetest.Begin(b, s, "old", 0)
	trials := typical(1)
	for b.Loop() {
		must(b, s.Append(b.Context(), run.ID, trials...))
	}
}

func BenchmarkAppendBatch(b *testing.B) {
	s := openAt(b, newPath(b))
	run := storetest.Begin(b, s, "old", 0)
	trials := typical(10_000)
	n := 0
	for b.Loop() {
		must(b, s.Append(b.Context(), run.ID, trials...))
		n += len(trials)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "trials/s")
}

func BenchmarkRead10000(b *testing.B) {
	s := openAt(b, newPath(b))
	run := storetest.Begin(b, s, "old", 0)
	must(b, s.Append(b.Context(), run.ID, typical(10_000)...))
	for b.Loop() {
		n := 0
		for _, err := range s.Trials(b.Context(), run.ID) {
			must(b, err)
			n++
		}
		if n != 10_000 {
			b.Fatalf("read %d", n)
		}
	}
}

func BenchmarkListRuns(b *testing.B) {
	s := openAt(b, newPath(b))
	for i := range 500 {
		run := storetest.Begin(b, s, "old", i)
		must(b, s.Append(b.Context(), run.ID, storetest.NewTrials(0, 4)...))
	}
	for b.Loop() {
		runs, err := s.Runs(b.Context(), store.Filter{Limit: 100})
		must(b, err)
		for _, r := range runs {
			_, err := s.Tally(b.Context(), r.ID)
			must(b, err)
		}
	}
}
