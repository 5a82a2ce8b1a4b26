package compare

import (
	"slices"
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// setting makes a factor whose levels are values of a test's parameter.
func setting(param string, values ...string) spec.Factor {
	f := spec.Factor{Name: param, Levels: values, Settings: map[string][]spec.Setting{}}
	for _, v := range values {
		f.Settings[v] = []spec.Setting{{End: spec.EndBoth, Knob: "param." + param, Value: v}}
	}
	return f
}

// measuredUnder gives the simulation's trials the tests that variants really run.
func measuredUnder(t *testing.T, s simulation) []result.Trial {
	t.Helper()
	trials := s.run()
	for i := range trials {
		x := &trials[i]
		var err error
		if x.Test, err = s.plan.TestUnder(x.Variant, x.Test); err != nil {
			t.Fatal(err)
		}
	}
	return trials
}

// A factor that sets a test's parameter compares what its levels run, and no row
// is called by a value that only some of its trials have.
func TestFactorOfAParameter(t *testing.T) {
	s := factorial(t)
	s.plan.Tests = tests(t, "udp_rr", "tcp_stream")
	s.plan.Tests[0].Params.Size, s.plan.Tests[0].Params.Flows = 64, 2
	s.plan.Factors[1] = setting("size", "default", "1KiB")
	s.plan.Baseline = spec.Variant{"rx": "softirq", "size": "default"}
	s.effect = func(v spec.Variant, _ spec.Test) float64 {
		if v["size"] == "1KiB" {
			return 1.3
		}
		return 1
	}
	trials := measuredUnder(t, s)
	r := build(t, s.plan, trials, Options{})
	if r.Partial || r.Blocks != s.plan.Blocks {
		t.Fatalf("%d blocks, partial %v", r.Blocks, r.Partial)
	}
	c := find(t, r.Comparisons, "1KiB", "udp_rr", "rtt_p50")
	if c.Verdict != Worse || !slices.Equal(c.Varied, []string{"size"}) || c.Heading() != "udp_rr flows=2, size by variant" || c.Name() != "udp_rr flows=2" {
		t.Errorf("%q, %q, %v: %+v", c.Heading(), c.Name(), c.Varied, c)
	}
	for _, e := range r.Effects {
		if strings.Contains(e.Heading(), "64") {
			t.Errorf("an effect of %q", e.Heading())
		}
	}
	for _, cell := range r.Cells {
		if want := map[string]string{"udp_rr": "udp_rr flows=2, size by variant", "tcp_stream": "tcp_stream, size by variant"}[cell.Test]; cell.Heading() != want {
			t.Errorf("a cell of %q", cell.Heading())
		}
	}
	for _, d := range r.Drift {
		if strings.Contains(d.Name(), "64") {
			t.Errorf("drift of %q", d.Name())
		}
	}
	if all := strings.Join(r.Answer(), " "); strings.Contains(all, "64") || !strings.Contains(all, "size 1KiB against default: ") {
		t.Errorf("%q", all)
	}
	// Elsewhere nothing is varied.
	r = build(t, factorial(t).plan, factorial(t).run(), Options{})
	if c := r.Comparisons[0]; c.Varied != nil || c.Heading() != c.Of().String() {
		t.Errorf("%q, %v", c.Heading(), c.Varied)
	}
}

// A metric that only some levels' tests have is kept, beside those of the plan's
// test, and is compared where both sides have it.
func TestMetricOfSomeLevels(t *testing.T) {
	s := rxContext(t, 8)
	s.plan.Tests = tests(t, "tcp_stream")
	s.plan.Factors = []spec.Factor{setting("send", "write", "zerocopy", "uring-zc")}
	s.plan.Baseline = spec.Variant{"send": "zerocopy"}
	s.effect = func(spec.Variant, spec.Test) float64 { return 1 }
	trials := measuredUnder(t, s)
	for i := range trials {
		if x := &trials[i]; x.Variant["send"] != "write" {
			x.Local.Counts[result.CountZeroCopy], x.Local.Counts[result.CountZeroCopied] = 100, 5
			if x.Variant["send"] == "uring-zc" {
				x.Local.Counts[result.CountZeroCopied] = 25
			}
		}
	}
	r := build(t, s.plan, trials, Options{})
	one, both := find(t, r.Comparisons, "write", "tcp_stream", result.ZeroCopied), find(t, r.Comparisons, "uring-zc", "tcp_stream", result.ZeroCopied)
	if one.Delta != nil || one.A.Median == nil || one.B.Median != nil || one.Verdict != Unsure || one.BlocksNeeded != 0 {
		t.Errorf("write, which copies always: %+v", one)
	}
	if both.Delta == nil || *both.Delta < 0.19 || *both.Delta > 0.21 {
		t.Errorf("%+v", both)
	}
	// The order is the table's, and no metric is there twice.
	g, err := newGrid(&s.plan, trials)
	if err != nil {
		t.Fatal(err)
	}
	zc := s.plan.Tests[0]
	zc.Params.Send = "zerocopy"
	if got, want := g.defined(0), result.Definitions(zc); len(got) != len(want) || !slices.EqualFunc(got, want, func(a, b result.Definition) bool { return a.Taken() == b.Taken() }) {
		t.Errorf("%d metrics, want %d in the table's order", len(got), len(want))
	}
	// Where the plan names it, it matters.
	s.plan.Metrics = []string{"goodput", result.ZeroCopied}
	r = build(t, s.plan, trials, Options{})
	if c := find(t, r.Comparisons, "uring-zc", "tcp_stream", result.ZeroCopied); c.Rank() != result.Main || c.Verdict != Worse {
		t.Errorf("named, it has rank %d: %+v", c.Rank(), c)
	}
}
