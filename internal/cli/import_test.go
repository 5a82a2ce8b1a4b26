package cli

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/interop"
	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/store"
	"netdelta/internal/store/memory"
)

func TestDistinctNames(t *testing.T) {
	for _, c := range []struct{ files, want []string }{
		{[]string{"../x/000-sci-tasklet.txt", "../x/000-sci-kthread.txt"}, []string{"tasklet", "kthread"}},
		{[]string{"case01-netperf-variantA.txt", "case01-netperf-variantB.txt"}, []string{"variantA", "variantB"}},
		{[]string{"old/netperf.txt", "new/netperf.txt"}, []string{"old", "new"}},
		{[]string{"a.txt", "b.json"}, []string{"a", "b"}},
		{[]string{"a-1.txt", "a.txt"}, []string{"a-1.txt", "a.txt"}},
		{[]string{"x.txt", "x.json"}, []string{"x.txt", "x.json"}},
		{[]string{"x", "x"}, []string{"x", "x"}},
		{[]string{"mtu-1500-new.txt", "mtu-9000-new.txt", "mtu-9000-old.txt"}, []string{"1500-new", "9000-new", "9000-old"}},
		{[]string{"one.txt"}, []string{"one"}},
		{[]string{"x", "-"}, []string{"x", "-"}},
	} {
		if got := distinctNames(c.files); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.files, got, c.want)
		}
	}
}

func FuzzDistinctNames(f *testing.F) {
	f.Add("a-1.txt", "a-2.txt", "b")
	f.Add("", "/", ".")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		got := distinctNames([]string{a, b, c})
		if len(got) != 3 || a != b && b != c && a != c && (got[0] == got[1] || got[1] == got[2] || got[0] == got[2]) {
			t.Errorf("%q %q %q: %q", a, b, c, got)
		}
	})
}

func outcome(name string, rates ...float64) *interop.Outcome {
	out := &interop.Outcome{Name: name}
	for i, v := range rates {
		out.Tests = append(out.Tests, scan.Test{Imported: result.Imported{Tool: "netperf", Name: "TCP_RR", Source: name, Line: i + 1, To: i + 1,
			Figures: []result.ImportedFigure{result.ImportedMetric(result.Rate, result.Local, v, "n", i+1)}}})
	}
	return out
}

// A file is a run of which each test's repetitions are blocks, and the same content
// has the same id.
func TestKeptOf(t *testing.T) {
	out := outcome("x.txt", 1, 2)
	out.Problems = []scan.Problem{{Span: scan.Span{From: 3, To: 4}, Text: `not understood: "?"`}}
	k := keptOf(out, []byte("content"))
	if err := k.Run.Validate(); err == nil || !strings.Contains(err.Error(), "no start time") {
		t.Errorf("got %v", err)
	}
	if len(k.Trials) != 2 || k.Trials[0].Block != 0 || k.Trials[1].Block != 1 || k.Trials[1].Order != 1 {
		t.Errorf("%+v", k.Trials)
	}
	if w := k.Run.Warnings; len(w) != 1 || w[0].Text != `x.txt:3-4: not understood: "?"` {
		t.Errorf("%+v", w)
	}
	if other := keptOf(outcome("y.txt", 1, 2), []byte("content")); other.Run.ID != k.Run.ID {
		t.Error("the same content has two ids")
	}
	for _, x := range k.Trials {
		if err := x.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// What is kept once is not kept again, and what was kept can be compared.
func TestKeepRun(t *testing.T) {
	s := memory.New()
	ctx := t.Context()
	a, b := keptOf(outcome("a.txt", 100), []byte("a")), keptOf(outcome("b.txt", 200), []byte("b"))
	said, err := keepRun(ctx, s, "old", a, true)
	if err != nil || !strings.HasPrefix(said, "kept as run "+a.Run.ID+" (old), 1 trial") {
		t.Errorf("%q, %v", said, err)
	}
	if said, err = keepRun(ctx, s, "again", a, true); err != nil || !strings.Contains(said, "kept already") {
		t.Errorf("%q, %v", said, err)
	}
	if _, err = keepRun(ctx, s, "new", b, true); err != nil {
		t.Error(err)
	}
	runs, err := s.Find(ctx, "old")
	if err != nil || len(runs) != 1 || runs[0].State != result.Complete || runs[0].Start.IsZero() {
		t.Fatalf("%+v, %v", runs, err)
	}
	trials, err := store.Collect(ctx, s, runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compared([]side{{runs: []compare.Kept{{Run: runs[0], Trials: trials}}}, {runs: []compare.Kept{b}, files: []string{"b.txt"}}}, nil, compare.RunsOptions{})
	if err != nil || !r.Posted || math.Abs(*r.Comparisons[0].DeltaPct-100) > 1e-9 || !slices.Equal(r.Factors[0].Levels, []string{"old", "b"}) {
		t.Errorf("%+v, %v", r.Comparisons, err)
	}
}

// One file with variants is compared within itself, whether the file says what
// varies or only its trials do.
func TestComparedAlone(t *testing.T) {
	out := outcome("post.yaml", 10, 20, 30, 60)
	for i, v := range []spec.Variant{{"os": "old", "rx": "loop"}, {"os": "old", "rx": "filter"}, {"os": "new", "rx": "loop"}, {"os": "new", "rx": "filter"}} {
		out.Tests[i].Variant = v
	}
	s := side{runs: []compare.Kept{keptOf(out, nil)}, files: []string{"post.yaml"}}
	r, err := compared([]side{s}, nil, compare.RunsOptions{})
	if err != nil || len(r.Comparisons) != 4 || len(r.Effects) != 1 || r.Factors[0].Name != "os" || r.Trials != 4 {
		t.Fatalf("%+v, %v", r.Comparisons, err)
	}
	s.table = &scan.Table{Title: "t", Factors: []spec.Factor{{Name: "rx", Levels: []string{"filter", "loop"}}, {Name: "os", Levels: []string{"old", "new"}}},
		Claims: []scan.Claim{{Says: "half", Test: "TCP_RR", Metric: result.Rate, Factor: "rx", Level: "loop", Against: "filter", Times: 0.5}}}
	r, err = compared([]side{s}, nil, compare.RunsOptions{})
	if err != nil || r.Factors[0].Name != "rx" || r.Comparisons[0].Baseline != "filter" || len(r.Checks) != 1 || !r.Checks[0].Pass {
		t.Fatalf("%+v, %+v, %v", r.Comparisons, r.Checks, err)
	}
	d := compare.Document{Report: &r, Kept: s.runs}
	if got := d.Variants(); len(got) != 4 || got[0] != "rx=filter os=old" {
		t.Errorf("variants: %q", got)
	}
	var exit *exitError
	if _, err = compared([]side{{runs: []compare.Kept{keptOf(outcome("x", 1), nil)}, files: []string{"x"}}}, nil, compare.RunsOptions{}); !errors.As(err, &exit) || exit.status != ExitUsage {
		t.Errorf("got %v", err)
	}
}

func TestUnderstood(t *testing.T) {
	failed := &interop.Outcome{Name: "x", Problems: []scan.Problem{{Span: scan.Span{From: 1, To: 1}, Text: "netperf could not connect"}}}
	garbage := &interop.Outcome{Name: "x", Problems: []scan.Problem{{Span: scan.Span{From: 1, To: 9}, Text: `not understood: "hello"`}}}
	if !understood(failed) || understood(garbage) || understood(&interop.Outcome{}) {
		t.Error("a program that failed is something, and a text that nobody knows is not")
	}
	if err := notUnderstood("x", garbage); !strings.Contains(err.Error(), `nothing in it is understood: line 1-9: not understood: "hello"; outputs of these are read: netperf, `) {
		t.Error(err)
	}
}
