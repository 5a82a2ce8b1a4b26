package cli

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
)

// manyTrials are n trials like those of a real run of a lab, counters and all, each
// with round trips of its own.
func manyTrials(tb testing.TB, n int) []result.Trial {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "exports", "lab.netdelta"))
	if err != nil {
		tb.Fatal(err)
	}
	all, err := result.DecodeBundle(data)
	if err != nil {
		tb.Fatal(err)
	}
	from := all[0].Trials
	rng := rand.New(rand.NewPCG(1, 2))
	trials := make([]result.Trial, n)
	for i := range trials {
		t := from[i%len(from)]
		t.Variant, t.Block, t.Order, t.Changes = nil, i, i, nil
		t.Start = t.Start.Add(time.Duration(i) * time.Second)
		t.Local.Messages += int64(rng.IntN(1000))
		if t.Local.RTT != nil {
			rtt := hist.New()
			rtt.Merge(t.Local.RTT)
			rtt.Record(int64(20_000 + rng.IntN(10_000)))
			t.Local.RTT = rtt
		}
		trials[i] = t
	}
	return trials
}

// plain are the same without what the hosts counted: what run --counters none keeps.
func plain(trials []result.Trial) []result.Trial {
	for i := range trials {
		trials[i].Local.Counters = nil
		if r := trials[i].Remote; r != nil {
			far := *r
			far.Counters = nil
			trials[i].Remote = &far
		}
	}
	return trials
}

func BenchmarkCompare10000(b *testing.B) {
	b.Run("counters", func(b *testing.B) { benchmarkCompare(b, manyTrials(b, 10_000)) })
	b.Run("plain", func(b *testing.B) { benchmarkCompare(b, plain(manyTrials(b, 10_000))) })
}

// The whole command: 10,000 trials are read from the store, decoded, reduced to their
// figures and compared, and the report is written.
func benchmarkCompare(b *testing.B, trials []result.Trial) {
	path := filepath.Join(b.TempDir(), "s.db")
	s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i, label := range []string{"old", "new"} {
		run := result.Run{ID: store.NewID(), Label: label, Start: trials[0].Start, State: result.Running}
		if err := s.Begin(b.Context(), run); err != nil {
			b.Fatal(err)
		}
		if err := s.Append(b.Context(), run.ID, trials[i*5000:(i+1)*5000]...); err != nil {
			b.Fatal(err)
		}
		if err := s.Finish(b.Context(), run.ID, result.Complete, trials[0].Start.Add(time.Hour), nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if status := Run(b.Context(), []string{"compare", "old", "new", "--store", path}, io.Discard, os.Stderr); status != ExitDone {
			b.Fatalf("exit status %d", status)
		}
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}
