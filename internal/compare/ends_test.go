package compare

import (
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// A metric that is taken at both ends has a row for each, with its own figures.
func TestBothEndsOfOneMetric(t *testing.T) {
	test, err := spec.NewTest("tcp_bidir", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	p := spec.Plan{Experiment: "x", Factors: []spec.Factor{{Name: "rx", Levels: []string{"a", "b"}}}, Baseline: spec.Variant{"rx": "a"},
		Tests: []spec.Test{test}, Blocks: 6, Window: time.Second, Margin: 0.02}
	var trials []result.Trial
	for block := range p.Blocks {
		for _, level := range []string{"a", "b"} {
			end := func(role string, got int64) result.End {
				return result.End{Role: role, Elapsed: time.Second, Bytes: 1e6, Counts: map[string]int64{
					result.CountReceivedBytes: got + int64(block), result.CountReceivedElapsed: 1e9, "retransmits": 0}}
			}
			remote := end(result.Remote, 4e6)
			x := result.Trial{Block: block, Attempt: 1, Variant: spec.Variant{"rx": level}, Test: test, Window: time.Second,
				Local: end(result.Local, 2e6), Remote: &remote}
			trials = append(trials, x)
		}
	}
	r, err := Build(p, trials, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, c := range r.Comparisons {
		if c.Metric == result.Goodput {
			got[c.End] = value(c.A.Median)
		}
	}
	if len(got) != 2 || int(got[result.Local]/1e6) != 16 || int(got[result.Remote]/1e6) != 32 {
		t.Errorf("goodput by end: %v", got)
	}
}
