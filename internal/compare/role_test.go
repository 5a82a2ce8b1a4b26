package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestMetricsThatMatter(t *testing.T) {
	s := rxContext(t, 8)
	s.plan.Factors[0].Levels = s.plan.Factors[0].Levels[:2]
	s.plan.Tests = tests(t, "tcp_rr", "tcp_stream")
	trials := s.run()
	before := build(t, s.plan, trials, Options{})
	s.plan.Metrics = []string{"rtt_max", "rtt_p99", "goodput"}
	r := build(t, s.plan, trials, Options{})
	if r.Families.Main != 3 || r.Families.Main+r.Families.Detail != before.Families.Main+before.Families.Detail {
		t.Errorf("families %+v, before %+v", r.Families, before.Families)
	}
	for metric, want := range map[string]result.Rank{"rtt_max": result.Headline, "rtt_p99": result.Main, "rtt_p50": result.Detail, "rate": result.Detail} {
		if c := find(t, r.Comparisons, "inline", "tcp_rr", metric); c.Rank() != want || c.DeltaPct == nil {
			t.Errorf("%s has rank %d, want %d", metric, c.Rank(), want)
		}
	}
	if c := find(t, r.Comparisons, "inline", "tcp_stream", "goodput"); c.Rank() != result.Headline {
		t.Errorf("goodput has rank %d", c.Rank())
	}
	if a := r.Answer()[0]; !strings.Contains(a, "tcp_rr max") || strings.Contains(a, "p50") {
		t.Errorf("answer: %s", a)
	}
	s.plan.Metrics = []string{"latency"}
	if _, err := Build(s.plan, trials, Options{}); err == nil || !strings.Contains(err.Error(), `"latency"`) || !strings.Contains(err.Error(), "rtt_p50") {
		t.Errorf("an unknown metric gives %v", err)
	}
}

func TestPrecisionOf(t *testing.T) {
	plan := streamPlan(t, 40, "a", "b")
	plan.Precision = 0.02
	rng := rand.New(rand.NewPCG(1, 2))
	trials := levelsTrials(plan, rng, func(_, _ int, v spec.Variant, _ string) float64 { return 0.02 * rng.NormFloat64() })
	for _, c := range []struct {
		blocks int
		want   bool
	}{{0, false}, {3, false}, {8, false}, {40, true}} {
		p, err := PrecisionOf(plan, trials[:2*c.blocks])
		if err != nil {
			t.Fatal(err)
		}
		if p.Reached != c.want || p.Next <= c.blocks || (p.Widest > 0) != (c.blocks > 1) {
			t.Errorf("%d blocks: %+v", c.blocks, p)
		}
	}
	// A run that ends for it is whole, and one that ends early for another reason
	// is not.
	r := build(t, plan, trials[:60], Options{Ended: EndedPrecision})
	if r.Partial || r.Ended != EndedPrecision || r.PrecisionPct != 2 || r.WidestPct == 0 || r.WidestOf != "tcp_stream goodput of b" {
		t.Errorf("partial %v, ended %q, %v, widest %v of %q", r.Partial, r.Ended, r.PrecisionPct, r.WidestPct, r.WidestOf)
	}
	if r := build(t, plan, trials[:59], Options{Ended: EndedTime}); !r.Partial {
		t.Error("a block that is not whole is no partial run")
	}
	if r := build(t, plan, trials[:60], Options{}); !r.Partial {
		t.Error("a run that was broken off is whole")
	}
	if r := build(t, plan, trials[:14], Options{Ended: EndedTime}); !strings.Contains(warned(&r, "not-precise"), "the time was over") {
		t.Errorf("warnings %+v", r.Warnings)
	}
}
