package compare

import (
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

var update = flag.Bool("update", false, "write testdata anew")

func build(t testing.TB, plan spec.Plan, trials []result.Trial, opts Options) Report {
	t.Helper()
	r, err := Build(plan, trials, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// find returns the row of a level, test and metric.
func find(t testing.TB, rows []Comparison, variant, test, metric string) Comparison {
	t.Helper()
	i := slices.IndexFunc(rows, func(c Comparison) bool {
		return c.Variant == variant && c.Test == test && c.Metric == metric
	})
	if i < 0 {
		t.Fatalf("no row for %s, %s, %s", variant, test, metric)
	}
	return rows[i]
}

// The made-up runs whose reports are kept in testdata, where renderers read
// them too.
func samples(t testing.TB) map[string]Report {
	environment := []Fact{
		{Name: "kernel", Value: "Linux 6.18.0 x86_64"},
		{Name: "cpu", Value: "2 x AMD EPYC 7B13, on a hypervisor"},
		{Name: "link", Value: "ether (two TAPs and a wire of our own), MTU 1500, offload off"},
		{Name: "bound to", Value: "local 0, remote 1, wire any"},
		{Name: "mitigations", Value: "Retpolines; IBPB: conditional; IBRS_FW; STIBP: disabled; RSB filling"},
	}
	lock := result.Warning{Code: "mlockall", Text: "memory could not be locked (operation not permitted)",
		Advice: "run as root or raise the limit of locked memory"}
	shared := result.Warning{Code: "shared-cpus", Text: "2 CPUs serve both ends and the wire, so variants compete with the traffic",
		Advice: "use a machine with four CPUs or more"}
	busy := result.Warning{Code: "own-cpu", Text: "the sender's thread used 100% of its CPU, so the tool was the bottleneck",
		Advice: "give it a CPU of its own (--cpu-local)"}

	whole := rxContext(t, 10)
	trials := whole.run()
	for i := range trials {
		x := &trials[i]
		x.Local.Warnings = []result.Warning{lock}
		if x.Variant["rx"] == "uthread" && x.Test.Name == "udp_stream" && x.Block%4 == 0 {
			x.Warnings = []result.Warning{busy}
		}
	}
	few := rxContext(t, 8)
	partial := few.run()
	return map[string]Report{
		"rx-context": build(t, whole.plan, trials, Options{Warnings: []result.Warning{shared}, Environment: environment, Version: "0.1.0",
			Command: "netdelta lab rx-context --levels inline,softirq,kthread,uthread --blocks 10 --time 200ms"}),
		"partial":    build(t, few.plan, partial[:len(partial)*5/16], Options{Environment: environment[:2]}),
		"conditions": build(t, sending(t, 8).plan, sending(t, 8).run(), Options{Command: "netdelta lab send-path --blocks 8"}),
		"factorial":  build(t, factorial(t).plan, factorial(t).run(), Options{Command: "netdelta ab plan.yaml"}),
	}
}

// factorial is two factors that interact on one test.
func factorial(t testing.TB) simulation {
	s := rxContext(t, 8)
	s.plan.Experiment, s.plan.Question = "mitigation", ""
	s.plan.Factors = []spec.Factor{{Name: "rx", Levels: []string{"softirq", "kthread"}}, {Name: "offload", Levels: []string{"off", "on"}}}
	s.plan.Baseline = spec.Variant{"rx": "softirq", "offload": "off"}
	s.plan.Tests = tests(t, "tcp_rr", "udp_stream")
	s.effect = func(v spec.Variant, test spec.Test) float64 {
		e := 1.0
		if v["rx"] == "kthread" {
			e *= 1.5
		}
		if v["offload"] == "on" {
			e *= 1.2
		}
		if v["rx"] == "kthread" && v["offload"] == "on" && test.Name == "udp_stream" {
			e *= 2
		}
		return e
	}
	s.noise, s.drift = 0.01, 0.005
	return s
}

func TestSamplesAreAsKept(t *testing.T) {
	all := samples(t)
	maps.Copy(all, runSamples(t))
	for name, got := range all {
		path := filepath.Join("testdata", name+".json")
		if *update {
			data, err := json.MarshalIndent(got, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want Report
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		// Machines differ in the last digits of a logarithm.
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 1e-9), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: the report has changed (-kept +got); if it should, run with -update:\n%s", name, d)
		}
	}
}

func TestBuildFindsWhatTheSimulationPutIn(t *testing.T) {
	s := rxContext(t, 10)
	r := build(t, s.plan, s.run(), Options{})
	if r.Blocks != 10 || r.Planned != 10 || r.Partial || r.Trials != 200 || r.MarginPct != 2 {
		t.Errorf("blocks %d of %d, partial %v, trials %d, margin %v%%", r.Blocks, r.Planned, r.Partial, r.Trials, r.MarginPct)
	}
	for _, c := range []struct {
		variant, test, metric string
		delta                 float64 // percent, or a share for loss
		verdict               Verdict
	}{
		{"kthread", "icmp_echo", "rtt_p50", 57, Worse},
		{"kthread", "udp_rr", "rtt_p50", 57, Worse},
		{"kthread", "tcp_rr", "rate", -36.3, Worse},
		{"inline", "tcp_rr", "rtt_p50", -20, Better},
		{"inline", "tcp_rr", "rate", 25, Better},
		{"uthread", "udp_rr", "rtt_mean", 1300, Worse},
		{"uthread", "tcp_stream", "goodput", -30, Worse},
		{"uthread", "udp_stream", "goodput", -30, Worse},
		{"kthread", "udp_stream", "loss", 0.039, Worse},
		{"uthread", "udp_stream", "loss", 0, Same},
		{"kthread", "udp_rr", "loss", 0, Same},
		{"uthread", "tcp_stream", "retransmits", 0, Same},
	} {
		got := find(t, r.Comparisons, c.variant, c.test, c.metric)
		est, lo, hi := got.Shift()
		if got.Verdict != c.verdict {
			t.Errorf("%s %s %s is %s, want %s: %s, p_adj %v", c.variant, c.test, c.metric, got.Verdict, c.verdict, got.Change(1), value(got.PAdj))
		}
		if !(lo <= est && est <= hi) || math.Abs(est-c.delta) > 0.12*math.Abs(c.delta)+0.001 {
			t.Errorf("%s %s %s: shift %v (%v to %v), want %v", c.variant, c.test, c.metric, est, lo, hi, c.delta)
		}
		if got.N != 10 || got.Confidence < 0.95 || got.A.Median == nil || got.B.Lo == nil || *got.B.Max < *got.B.Hi {
			t.Errorf("%s %s %s: n %d, confidence %v, a %+v, b %+v", c.variant, c.test, c.metric, got.N, got.Confidence, got.A, got.B)
		}
	}
}

func TestRowsAreSortedAndComplete(t *testing.T) {
	s := rxContext(t, 6)
	r := build(t, s.plan, s.run(), Options{})
	g, err := newGrid(&s.plan, s.run())
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, level := range []string{"inline", "kthread", "uthread"} {
		for n, test := range s.plan.Tests {
			for _, d := range definitions(test, g.of(n)) {
				if i == len(r.Comparisons) {
					t.Fatalf("only %d rows", i)
				}
				c := r.Comparisons[i]
				if c.Factor != "rx" || c.Baseline != "softirq" || c.Variant != level || c.Of() != test || c.Metric != d.Name || c.End != d.End {
					t.Fatalf("row %d is %s %s %s %s, want %s %s %s", i, c.Variant, c.Of(), c.Metric, c.End, level, test, d.Name)
				}
				i++
			}
		}
	}
	if i != len(r.Comparisons) || len(r.Effects) != 0 || r.Effects == nil || r.Warnings == nil {
		t.Errorf("%d rows, want %d; effects %v, warnings %v", len(r.Comparisons), i, r.Effects, r.Warnings)
	}
}

func TestBuildIsTheSameTwice(t *testing.T) {
	s := rxContext(t, 16) // beyond 14 blocks the flips are drawn by the seed
	s.plan.Tests = s.plan.Tests[3:]
	trials := s.run()
	first := build(t, s.plan, trials, Options{})
	slices.Reverse(trials)
	if d := cmp.Diff(first, build(t, s.plan, trials, Options{})); d != "" {
		t.Errorf("the trials' order in the list changed the report:\n%s", d)
	}
}

func TestBuildRefusesWhatIsNotThePlans(t *testing.T) {
	s := rxContext(t, 6)
	trials := s.run()
	for _, c := range []struct {
		name    string
		spoil   func(*spec.Plan, *result.Trial)
		wantErr string
	}{
		{"invalid plan", func(p *spec.Plan, x *result.Trial) { p.Margin = 0 }, "compare: margin 0 is out of range"},
		{"foreign level", func(p *spec.Plan, x *result.Trial) { x.Variant = spec.Variant{"rx": "gro"} }, "none of the plan's 4"},
		{"no variant", func(p *spec.Plan, x *result.Trial) { x.Variant = nil }, "none of the plan's"},
		{"factor more", func(p *spec.Plan, x *result.Trial) { x.Variant = spec.Variant{"rx": "inline", "tx": "a"} }, "none of the plan's"},
		{"foreign test", func(p *spec.Plan, x *result.Trial) { x.Test.Params.Size = 2 }, "which is not in the plan"},
		{"block too high", func(p *spec.Plan, x *result.Trial) { x.Block = 6 }, "is of block 6, and the plan has 0 to 5"},
		{"negative block", func(p *spec.Plan, x *result.Trial) { x.Block = -1 }, "is of block -1"},
		{"twice", func(p *spec.Plan, x *result.Trial) { *x = trials[1] }, "is there twice"},
	} {
		plan := s.plan
		mine := slices.Clone(trials)
		c.spoil(&plan, &mine[0])
		if _, err := Build(plan, mine, Options{}); err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
	}
}

func TestLastAttemptCounts(t *testing.T) {
	s := rxContext(t, 6)
	s.plan.Tests = s.plan.Tests[4:]
	trials := s.run()
	want := build(t, s.plan, trials, Options{})
	spoiled := trials[3]
	end := *spoiled.Remote
	end.Bytes = 1
	spoiled.Remote = &end
	trials[3].Attempt = 1
	for _, list := range [][]result.Trial{append([]result.Trial{spoiled}, trials...), append(slices.Clone(trials), spoiled)} {
		if d := cmp.Diff(want, build(t, s.plan, list, Options{})); d != "" {
			t.Errorf("the first attempt was counted:\n%s", d)
		}
	}
}

func TestMissingTrials(t *testing.T) {
	s := rxContext(t, 8)
	trials := slices.DeleteFunc(s.run(), func(x result.Trial) bool {
		return x.Block == 2 && x.Test.Name == "tcp_rr" && x.Variant["rx"] == "kthread"
	})
	r := build(t, s.plan, trials, Options{})
	if !r.Partial || r.Blocks != 7 || r.Trials != 159 {
		t.Errorf("partial %v, blocks %d, trials %d; want true, 7, 159", r.Partial, r.Blocks, r.Trials)
	}
	for variant, n := range map[string]int{"kthread": 7, "inline": 8} {
		if c := find(t, r.Comparisons, variant, "tcp_rr", "rtt_p50"); c.N != n || c.DeltaPct == nil {
			t.Errorf("%s has n %d, want %d", variant, c.N, n)
		}
	}
	if c := find(t, r.Comparisons, "kthread", "udp_rr", "rtt_p50"); c.N != 8 {
		t.Errorf("a trial missing from another test cost a pair: n %d", c.N)
	}
}

func TestNoTrialsAtAll(t *testing.T) {
	s := rxContext(t, 8)
	r := build(t, s.plan, nil, Options{})
	if !r.Partial || r.Blocks != 0 || r.Trials != 0 || len(r.Comparisons) == 0 {
		t.Fatalf("partial %v, blocks %d, trials %d, %d rows", r.Partial, r.Blocks, r.Trials, len(r.Comparisons))
	}
	for _, c := range r.Comparisons {
		if c.N != 0 || c.Verdict != Unsure || c.DeltaPct != nil || c.Delta != nil || c.P != nil || c.PAdj != nil ||
			c.A.Median != nil || c.BlocksNeeded != spec.MinBlocks || c.Confidence != 0 {
			t.Fatalf("a row of nothing says %+v", c)
		}
	}
}

func TestZeroFigureIsNoPercentage(t *testing.T) {
	s := rxContext(t, 8)
	trials := s.run()
	for i := range trials {
		if x := &trials[i]; x.Variant["rx"] == "uthread" && x.Test.Name == "tcp_stream" && x.Block < 3 {
			x.Remote.Bytes = 0
		}
	}
	r := build(t, s.plan, trials, Options{})
	c := find(t, r.Comparisons, "uthread", "tcp_stream", "goodput")
	if c.DeltaPct != nil || c.LoPct != nil || c.P != nil || c.Verdict != Unsure || c.BlocksNeeded != 0 || c.N != 8 {
		t.Errorf("a row with zeros gives %s, %s, n %d, %d blocks needed", c.Change(1), c.Verdict, c.N, c.BlocksNeeded)
	}
	if c.A.Median == nil || c.B.Median == nil || *c.B.Lo != 0 {
		t.Errorf("its figures are lost: a %+v, b %+v", c.A, c.B)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].Text != "3 of 16 trials measured 0, so there is no relative change" {
		t.Errorf("warnings %+v", c.Warnings)
	}
	if c := find(t, r.Comparisons, "kthread", "tcp_stream", "goodput"); c.DeltaPct == nil {
		t.Error("another level's zeros took this row away")
	}
}

// A metric that no trial has enough samples for is a row without figures, and
// more blocks won't help it.
func TestFewSamples(t *testing.T) {
	s := rxContext(t, 6)
	s.plan.Window = 50 * time.Millisecond
	r := build(t, s.plan, s.run(), Options{})
	c := find(t, r.Comparisons, "uthread", "icmp_echo", "rtt_p999")
	if c.N != 0 || c.DeltaPct != nil || c.Verdict != Unsure || c.BlocksNeeded != 0 || c.A.Median == nil || c.B.Median != nil {
		t.Errorf("n %d, %s, %s, %d blocks needed, a %+v, b %+v", c.N, c.Change(1), c.Verdict, c.BlocksNeeded, c.A, c.B)
	}
	want := []result.Warning{{Code: "few-samples", Metric: "rtt_p999", Advice: "measure for longer (--time)",
		Text: "6 of 12 trials: too few round trips for rtt_p999, which needs 1000"}}
	if d := cmp.Diff(want, c.Warnings); d != "" {
		t.Errorf("warnings:\n%s", d)
	}
	if c := find(t, r.Comparisons, "uthread", "icmp_echo", "rtt_p50"); len(c.Warnings) != 0 {
		t.Errorf("the warning stands beside another metric: %+v", c.Warnings)
	}
}
