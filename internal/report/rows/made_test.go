package rows

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-golden +got; if it should differ, run with -update):\n%s", name, d)
	}
}

func test(t testing.TB, name string, p spec.Params) spec.Test {
	t.Helper()
	x, err := spec.NewTest(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// roundTrips is a trial of udp_rr with round trips around us microseconds, stream one of
// tcp_stream that moved so many megabytes.
func roundTrips(t testing.TB, block int, us int64) result.Trial {
	rtt := hist.New()
	for i := range int64(1000) {
		rtt.Record(1000*us + i)
	}
	return result.Trial{Block: block, Attempt: 1, Test: test(t, "udp_rr", spec.Params{}), Start: time.Unix(1e9+int64(block), 5e8).UTC(), Warmup: time.Second / 4, Window: time.Second,
		Local:  result.End{Role: result.Local, Elapsed: time.Second, Messages: 1000, Bytes: 2000, RTT: rtt, Counts: map[string]int64{"sent": 1000, "lost": 0, "late": 0, "stale": 0}},
		Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Messages: 1000, Bytes: 2000}}
}

func stream(t testing.TB, block int, mb int64) result.Trial {
	return result.Trial{Block: block, Attempt: 1, Test: test(t, "tcp_stream", spec.Params{}), Start: time.Unix(1e9+int64(block), 0).UTC(), Warmup: time.Second / 4, Window: time.Second,
		Local:  result.End{Role: result.Local, Elapsed: time.Second, Messages: 8 * mb, Bytes: 1e6 * mb, Counts: map[string]int64{"retransmits": 0}},
		Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Messages: 8 * mb, Bytes: 1e6 * mb}}
}

// planned is a document of an experiment of two levels, whose baseline is the second
// that ran.
func planned(t testing.TB) *compare.Document {
	plan := spec.Plan{Experiment: "rx-context", Factors: []spec.Factor{{Name: "rx", Levels: []string{"softirq", "napi-2"}}}, Baseline: spec.Variant{"rx": "softirq"},
		Tests: []spec.Test{test(t, "udp_rr", spec.Params{}), test(t, "tcp_stream", spec.Params{})}, Blocks: 6, Warmup: time.Second / 4, Window: time.Second, Seed: 1, Margin: 0.02}
	var trials []result.Trial
	for block := range 6 {
		for i, level := range []string{"napi-2", "softirq"} {
			a, b := roundTrips(t, block, int64(40-20*i+block)), stream(t, block, int64(900+100*i+block))
			for _, x := range []result.Trial{a, b} {
				x.Variant, x.Order = spec.Variant{"rx": level}, len(trials)
				trials = append(trials, x)
			}
		}
	}
	trials[0].Warnings = []result.Warning{{Code: "loopback", Text: "the route is loopback"}, {Code: "few-samples", Text: "too few", Metric: result.RTTP99}}
	r, err := compare.Build(plan, trials, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Version = "0.1.0"
	run := result.Run{ID: result.RunID(7), Label: "=label", Experiment: plan.Experiment, State: result.Complete, Start: trials[0].Start, Plan: &plan}
	return &compare.Document{Report: &r, Kept: []compare.Kept{{Run: run, Trials: trials}}}
}

// separate is a document of two runs, and imported one of what another program printed.
func separate(t testing.TB) *compare.Document {
	kept := func(id uint64, label string, us int64) compare.Kept {
		k := compare.Kept{Run: result.Run{ID: result.RunID(id), Label: label, State: result.Complete, Start: time.Unix(int64(id), 0).UTC()}}
		for i := range 5 {
			x := roundTrips(t, i, us+int64(i))
			x.Order = i
			k.Trials = append(k.Trials, x)
		}
		return k
	}
	a, b := kept(1, "old", 20), kept(2, "new", 30)
	r, err := compare.Runs([]compare.Kept{a}, []compare.Kept{b}, compare.RunsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &compare.Document{Report: &r, Kept: []compare.Kept{a, b}}
}

func imported(t testing.TB) *compare.Document {
	k := compare.Kept{Run: result.Run{ID: result.RunID(3), State: result.Complete, Start: time.Unix(3, 0).UTC()}}
	k.Trials = []result.Trial{
		result.ImportedTrial(result.Imported{Tool: "netperf", Name: "TCP_RR", Params: []result.Fact{{Name: "request", Value: "1 B"}}, Source: "a.txt", Line: 1, To: 5,
			Figures: []result.ImportedFigure{result.ImportedMetric(result.Rate, result.Local, 12345.678, "12345.678", 5)}}),
		result.ImportedTrial(result.Imported{Tool: result.PostedTable, Name: "=1+1 / x", Figures: []result.ImportedFigure{
			{Metric: "frames a\tb", Unit: "1 per x", Better: result.Higher, Value: 1e-300}}}, result.Warning{Code: "posted", Text: "no more is known"}),
	}
	k.Trials[1].Order = 1
	s := summary.Build(k.Run, k.Trials)
	return &compare.Document{Summary: &s, Kept: []compare.Kept{k}}
}
