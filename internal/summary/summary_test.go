package summary

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

var update = flag.Bool("update", false, "write the kept reports anew")

func test(t testing.TB, name string) spec.Test {
	t.Helper()
	x, err := spec.NewTest(name, spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// rr is a trial of udp_rr with round trips around us microseconds.
func rr(t testing.TB, block int, us float64, n int) result.Trial {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(block), 1))
	rtt := hist.New()
	for range n {
		rtt.Record(int64(1000 * us * (0.9 + 0.2*rng.Float64())))
	}
	return result.Trial{
		Block: block, Order: 2 * block, Attempt: 1, Test: test(t, "udp_rr"),
		Local:  result.End{Role: result.Local, Elapsed: time.Second, Messages: rtt.Count(), Bytes: 2 * rtt.Count(), RTT: rtt, Counts: map[string]int64{"sent": rtt.Count(), "lost": 0, "late": 0, "stale": 0}},
		Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Messages: rtt.Count(), Bytes: 2 * rtt.Count()},
	}
}

// stream is a trial of udp_stream that got so many of 1000 datagrams through.
func stream(t testing.TB, block int, got int64) result.Trial {
	t.Helper()
	return result.Trial{
		Block: block, Order: 2*block + 1, Attempt: 1, Test: test(t, "udp_stream"),
		Local: result.End{Role: result.Local, Elapsed: time.Second, Messages: 1000, Bytes: 1_024_000, Counts: map[string]int64{"sent": 1000, "send_errors": 0}},
		Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Messages: got, Bytes: 1024 * got,
			Counts: map[string]int64{"unique": got, "duplicates": 0, "reordered": 0, "total": got, "socket_drops": 0}},
	}
}

func run() result.Run {
	return result.Run{
		ID: "7f3k2m9x0a", Label: "old", Target: "192.0.2.2", State: result.Complete,
		Start:   time.Date(2001, 10, 1, 12, 0, 0, 0, time.UTC),
		Plan:    &spec.Plan{Tests: []spec.Test{{Name: "udp_rr"}, {Name: "udp_stream"}}, Blocks: 5, Warmup: 250 * time.Millisecond, Window: time.Second, Seed: 7},
		Command: "netdelta run 192.0.2.2 --label old --seed 7", Version: "0.1.0",
		Environments: []result.Environment{
			{End: result.Local, Facts: []result.Fact{{Name: "kernel", Value: "6.1"}, {Name: "cpus", Value: "2 usable"}, {Name: "hypervisor", Value: "KVM"}}},
			{End: result.Remote, Facts: []result.Fact{{Name: "kernel", Value: "6.8"}, {Name: "cpus", Value: "2 usable"}}},
		},
	}
}

// figureOf finds a row.
func figureOf(t *testing.T, r Report, test, metric string) Figure {
	t.Helper()
	for _, f := range r.Figures {
		if f.Test == test && f.Metric == metric {
			return f
		}
	}
	t.Fatalf("no figure %s of %s", metric, test)
	return Figure{}
}

func five(t testing.TB) []result.Trial {
	var trials []result.Trial
	for block, got := range []int64{900, 1000, 950, 1000, 800} {
		// The tests took turns at being first.
		trials = append(trials, stream(t, block, got), rr(t, block, 20+float64(block), 2000))
	}
	return trials
}

func TestBuild(t *testing.T) {
	r := Build(run(), five(t))
	if r.Schema != Schema || r.Trials != 10 || r.Planned != 10 || r.WindowNS != 1e9 || r.WarmupNS != 25e7 || r.Seed != 7 {
		t.Errorf("head: %+v", r)
	}
	if got := r.Figures[0].Test; got != "udp_rr" {
		t.Errorf("the first figure is of %s: tests come in the order of their table", got)
	}
	loss := figureOf(t, r, "udp_stream", result.Loss)
	near := func(what string, p *float64, want float64) {
		t.Helper()
		if p == nil || *p < want-1e-9 || *p > want+1e-9 {
			t.Errorf("%s: got %v, want %v", what, p, want)
		}
	}
	near("median", loss.Median, 0.05)
	near("lo", loss.Lo, 0)
	near("hi", loss.Hi, 0.2)
	near("min", loss.Min, 0)
	near("max", loss.Max, 0.2)
	if loss.N != 5 || loss.Of != 5 || loss.Confidence != 0.9375 || loss.End != result.Remote {
		t.Errorf("loss: %+v", loss)
	}
	near("goodput", figureOf(t, r, "udp_stream", result.Goodput).Median, 950*1024*8)
	near("rate", figureOf(t, r, "udp_rr", result.Rate).Median, 2000)
	if len(r.Unmeasured()) != 0 {
		t.Errorf("unmeasured: %v", r.Unmeasured())
	}
}

// The order of the trials does not matter, and of several attempts at one
// trial the last counts.
func TestOrderAndAttempts(t *testing.T) {
	trials := five(t)
	want := Build(run(), trials)
	slices.Reverse(trials)
	if d := cmp.Diff(want.Figures, Build(run(), trials).Figures); d != "" {
		t.Errorf("in another order it differs:\n%s", d)
	}
	again := stream(t, 0, 100)
	again.Attempt = 2
	got := figureOf(t, Build(run(), append(trials, again)), "udp_stream", result.Goodput)
	if got.N != 5 || *got.Min != 100*1024*8 {
		t.Errorf("a second attempt: %+v", got)
	}
}

// Variants of one test are apart.
func TestVariants(t *testing.T) {
	a, b := stream(t, 0, 1000), stream(t, 0, 500)
	a.Variant, b.Variant = spec.Variant{"rx": "kthread", "mtu": "1500"}, spec.Variant{"rx": "inline", "mtu": "1500"}
	r := Build(result.Run{}, []result.Trial{a, b})
	var under []string
	for _, f := range r.Figures {
		if f.Metric == result.Goodput {
			under = append(under, f.Under)
		}
	}
	if want := []string{"mtu=1500 rx=inline", "mtu=1500 rx=kthread"}; !slices.Equal(under, want) {
		t.Errorf("got %q, want %q", under, want)
	}
}

// A test in which nothing came through has no figures, and says why.
func TestNothingCameThrough(t *testing.T) {
	dead := rr(t, 0, 20, 0)
	silent := stream(t, 0, 0)
	r := Build(result.Run{}, []result.Trial{dead, silent, stream(t, 1, 0)})
	if got := r.Unmeasured(); len(got) != 2 || got[0].Name != "udp_rr" || got[1].Name != "udp_stream" {
		t.Errorf("unmeasured: %v", got)
	}
	p50 := figureOf(t, r, "udp_rr", result.RTTP50)
	if p50.N != 0 || p50.Of != 1 || p50.Median != nil || len(p50.Warnings) != 1 || p50.Warnings[0].Code != "no-samples" {
		t.Errorf("p50: %+v", p50)
	}
	r = Build(result.Run{}, []result.Trial{silent, stream(t, 1, 1)})
	if got := r.Unmeasured(); len(got) != 0 {
		t.Errorf("one trial had traffic, yet unmeasured are %v", got)
	}
}

// One trial has a median and no interval.
func TestOneTrial(t *testing.T) {
	f := figureOf(t, Build(run(), five(t)[:1]), "udp_stream", result.Goodput)
	if f.Median == nil || f.Lo != nil || f.Hi != nil || f.Confidence != 0 {
		t.Errorf("%+v", f)
	}
}

func TestNoTrials(t *testing.T) {
	r := Build(run(), nil)
	if r.Figures == nil || len(r.Figures) != 0 || r.Warnings == nil || r.Planned != 10 {
		t.Errorf("%+v", r)
	}
}

func TestWarnings(t *testing.T) {
	trials := five(t)
	for i := range trials {
		trials[i].Warnings = append(trials[i].Warnings, result.Warning{Code: "loopback", Text: "the route is loopback"})
	}
	trials[0].Warnings = append(trials[0].Warnings, result.Warning{Code: "window-overrun", Text: "took 3.1s rather than 1s"})
	trials[2].Warnings = append(trials[2].Warnings, result.Warning{Code: "window-overrun", Text: "took 12ms rather than 1s"})
	of := run()
	of.Warnings = []result.Warning{{Code: "cut_off", Text: "it ended without an end"}}
	var got []string
	for _, w := range Build(of, trials).Warnings {
		got = append(got, w.Text)
	}
	want := []string{"it ended without an end", "the route is loopback", "udp_stream: took 3.1s rather than 1s (2 of 5 trials)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is kept is what the renderers are tested with.
func TestKept(t *testing.T) {
	trials := five(t)
	trials[0].Warnings = append(trials[0].Warnings, result.Warning{Code: "window-overrun", Text: "the remote end's window lasted 3.123456s rather than 1s", Advice: "look at the link"})
	trials[3].Local.Counts["lost"] = 40
	partial := run()
	partial.State, partial.Label = result.Partial, ""
	partial.Warnings = []result.Warning{{Code: "interrupted", Text: "interrupted after 3 of 10 trials"}}
	for name, r := range map[string]Report{
		"run":     Build(run(), trials),
		"partial": Build(partial, []result.Trial{trials[0], rr(t, 0, 20, 50), rr(t, 1, 20, 2000)}),
		"nothing": Build(partial, nil),
	} {
		data, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name + ".json"
		if *update {
			if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.TrimSpace(string(want)), string(data)); d != "" {
			t.Errorf("%s (-kept +got; if it should differ, run with -update):\n%s", name, d)
		}
	}
}
