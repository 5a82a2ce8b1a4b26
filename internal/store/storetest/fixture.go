package storetest

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/store"
)

// Same compares records of runs and trials: an empty list or map is like none
// at all, and a time is a time in whatever zone.
var Same = cmp.Options{
	cmp.Comparer((*hist.Hist).Equal),
	cmp.Comparer(time.Time.Equal),
	cmpopts.EquateEmpty(),
}

// start is when the fixtures' runs began.
var start = time.Date(2020, 2, 29, 23, 59, 59, 123456789, time.UTC)

// NewRun is a run with everything in it, begun so many minutes after the
// others' common start.
func NewRun(label string, minutes int) result.Run {
	return result.Run{
		Schema:     result.RunSchema,
		ID:         store.NewID(),
		Label:      label,
		Experiment: "rx-context",
		Target:     "[2001:db8::1]:7117",
		State:      result.Running,
		Start:      start.Add(time.Duration(minutes) * time.Minute),
		Plan: &spec.Plan{
			Experiment: "rx-context", Factors: []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}},
			Baseline: spec.Variant{"rx": "softirq"}, Tests: []spec.Test{test("udp_rr")}, Blocks: 8,
			Window: time.Second, Seed: math.MaxUint64, Margin: 0.02,
		},
		Command: `netdelta run [2001:db8::1] --label "a b"`,
		Version: "v1.2.3",
		Environments: []result.Environment{
			{End: result.Local, Facts: []result.Fact{{Name: "kernel", Value: "6.18"}, {Name: "cpu", Value: "x (R) Größe"}}},
			{End: result.Remote, Facts: []result.Fact{{Name: "kernel", Value: "5.10"}}},
		},
		Notes:    "two\nlines",
		Warnings: []result.Warning{{Code: "loopback", Text: "the route is loopback", Advice: "use two hosts"}},
	}
}

// NewTrial is the n-th trial of a run, with figures of its own and a
// histogram of some two hundred buckets, about as many as a second of round
// trips fills.
func NewTrial(n int) result.Trial {
	tests := []string{"udp_rr", "tcp_stream"}
	levels := []string{"softirq", "kthread"}
	t := result.Trial{
		Schema:  result.Schema,
		Block:   n / 4,
		Order:   n,
		Attempt: n % 3,
		Variant: spec.Variant{"rx": levels[n/2%2], "gro": "on"},
		Test:    test(tests[n%2]),
		Start:   start.Add(time.Duration(n) * time.Second),
		Local: result.End{Role: result.Local, Elapsed: time.Second, Messages: int64(5000 + n), Bytes: int64(n),
			Counts: map[string]int64{"sent": int64(5000 + n), "lost": 1}},
		Remote: &result.End{Role: result.Remote, Elapsed: time.Second + 1, Messages: int64(n), Bytes: math.MaxInt64,
			Warnings: []result.Warning{{Code: "mlockall", Text: "refused", Metric: result.RTTP50}}},
		Path: result.Path{Counts: map[string]int64{"frames": int64(n)}},
	}
	if n%2 == 0 {
		t.Local.RTT = hist.New()
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for range 500 {
			t.Local.RTT.Record(int64(20_000 * math.Exp(r.NormFloat64()/4)))
		}
	}
	return t
}

// NewTrials are the trials from to to-1.
func NewTrials(from, to int) []result.Trial {
	var all []result.Trial
	for n := from; n < to; n++ {
		all = append(all, NewTrial(n))
	}
	return all
}

func test(name string) spec.Test {
	t, err := spec.NewTest(name, spec.Params{})
	if err != nil {
		panic(err) // the names are above
	}
	return t
}

// Begin makes a run in the store.
func Begin(t testing.TB, s store.Store, label string, minutes int) result.Run {
	t.Helper()
	run := NewRun(label, minutes)
	if err := s.Begin(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

// CheckTrials fails the test unless the run has exactly those trials.
func CheckTrials(t testing.TB, s store.Store, id string, want []result.Trial) {
	t.Helper()
	got, err := store.Collect(t.Context(), s, id)
	if err != nil {
		t.Fatalf("after %d trials: %v", len(got), err)
	}
	if d := cmp.Diff(want, got, Same); d != "" {
		t.Fatalf("the trials of run %s differ (-want +got):\n%s", id, d)
	}
}
