package findings

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// world is a plan with made-up trials: how to make each is up to the case.
type world struct {
	plan spec.Plan
	make func(x *result.Trial, v spec.Variant, wiggle float64)
}

// oneFactor is a plan of ten blocks with one factor, the first level its baseline.
func oneFactor(t testing.TB, name, tests string, levels ...string) spec.Plan {
	return planOf(t, tests, "", spec.Factor{Name: name, Levels: levels})
}

// planOf is a plan of ten blocks, every factor's first level the baseline.
func planOf(t testing.TB, tests, beside string, factors ...spec.Factor) spec.Plan {
	t.Helper()
	p := spec.Plan{Experiment: "made", Factors: factors, Baseline: spec.Variant{}, Blocks: 10,
		Warmup: 10 * time.Millisecond, Window: time.Second, Seed: 1, Margin: 0.02}
	for _, f := range factors {
		p.Baseline[f.Name] = f.Levels[0]
	}
	var err error
	if p.Tests, err = spec.ParseTests(tests, nil); err != nil {
		t.Fatal(err)
	}
	if beside != "" {
		if p.Beside, err = spec.ParseTests(beside, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}

// testOf is a test as its user writes it.
func testOf(t testing.TB, text string) spec.Test {
	t.Helper()
	all, err := spec.ParseTests(text, nil)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

// look makes the world's trials and report, and has a finder look at them.
func (w world) look(t testing.TB, find Finder) *compare.Report {
	t.Helper()
	return w.of(t, w.trials(), find)
}

// of is the report of some trials that a finder has looked at.
func (w world) of(t testing.TB, trials []result.Trial, find Finder) *compare.Report {
	t.Helper()
	r, err := compare.Build(w.plan, trials, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	find(&Input{Plan: &w.plan, Trials: trials, Report: &r})
	return &r
}

// trials are those of the whole plan. Figures differ by some parts in a thousand from
// block to block, in a fixed way.
func (w world) trials() []result.Trial {
	var all []result.Trial
	add := func(block int, v spec.Variant, test spec.Test, wiggle float64) {
		x := result.Trial{Schema: result.Schema, Block: block, Order: len(all), Attempt: 1, Variant: v, Test: test,
			Warmup: w.plan.Warmup, Window: w.plan.Window, Local: result.End{Role: result.Local, Elapsed: w.plan.Window}}
		if test.Kind().HasRemote() {
			x.Remote = &result.End{Role: result.Remote, Elapsed: w.plan.Window}
		}
		w.make(&x, v, wiggle)
		all = append(all, x)
	}
	for b := range w.plan.Blocks {
		for i, v := range w.plan.Variants() {
			for _, test := range w.plan.Tests {
				ran, err := w.plan.TestUnder(v, test)
				if err != nil {
					panic(err)
				}
				add(b, v, ran, 1+0.002*math.Sin(float64(1+3*b+7*i)))
			}
		}
		for _, test := range w.plan.Beside {
			add(b, nil, test, 1+0.002*math.Sin(float64(5*b)))
		}
	}
	return all
}

// rtt gives a trial round trips that are about so long.
func rtt(x *result.Trial, d time.Duration, wiggle float64) {
	h := hist.New()
	for range 1000 {
		h.Record(int64(float64(d) * wiggle))
	}
	x.Local.RTT, x.Local.Messages = h, 1000
}

// goodput gives a stream so many bit/s.
func goodput(x *result.Trial, bits, wiggle float64) {
	n := int64(bits / 8 * x.Window.Seconds() * wiggle)
	for _, e := range []*result.End{&x.Local, x.Remote} {
		e.Bytes, e.Messages = n, max(1, n/1448)
	}
	if x.Test.Kind().Protocol == spec.UDP {
		x.Local.Counts = map[string]int64{"sent": x.Local.Messages, "unique": x.Local.Messages}
		x.Remote.Counts = maps.Clone(x.Local.Counts)
	}
}

// levels gives an end a reading of a source.
func levels(e *result.End, source string, of map[string]int64) *result.Reading {
	if e.Counters == nil {
		e.Counters = &result.Counters{}
	}
	e.Counters.Readings = append(e.Counters.Readings, result.Reading{Source: source, Elapsed: e.Elapsed, Levels: of, Counts: map[string]int64{}})
	return &e.Counters.Readings[len(e.Counters.Readings)-1]
}

// tcp gives a stream's sender its state.
func tcp(x *result.Trial, rtt, least time.Duration, cwnd, window, sndbuf int64, wiggle float64) *result.Reading {
	const mss = 1448
	levels(&x.Local, result.SourceSockets, map[string]int64{"sndbuf": sndbuf})
	return levels(&x.Local, result.SourceTCPInfo, map[string]int64{"flows": 1, "mss": mss, "cwnd": cwnd / mss, "snd_wnd": window,
		"rtt_ns": int64(float64(rtt) * wiggle), "min_rtt_ns": int64(least)})
}

func section(t testing.TB, r *compare.Report, name string) compare.Section {
	t.Helper()
	i := slices.IndexFunc(r.Sections, func(s compare.Section) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no section %s", name)
	}
	for _, row := range r.Sections[i].Rows {
		if len(row.Cells) != len(r.Sections[i].Columns) {
			t.Errorf("%s: %q has %d cells of %d", name, row.Label, len(row.Cells), len(r.Sections[i].Columns))
		}
	}
	return r.Sections[i]
}

// cell is the text of a section's cell, or its figure.
func cell(t testing.TB, s compare.Section, label, column string) compare.Datum {
	t.Helper()
	row := slices.IndexFunc(s.Rows, func(l compare.Line) bool { return l.Label == label })
	at := slices.IndexFunc(s.Columns, func(c compare.Column) bool { return c.Name == column })
	if row < 0 || at < 0 {
		t.Fatalf("%s has no %q in %q", s.Name, column, label)
	}
	return s.Rows[row].Cells[at]
}

func near2(v *float64, want float64) bool {
	return v != nil && math.Abs(*v-want) <= 0.02*math.Abs(want)
}

func said(t testing.TB, r *compare.Report, want ...string) {
	t.Helper()
	if got, all := strings.Join(r.Findings, "\n"), strings.Join(want, "\n"); got != all {
		t.Errorf("found\n%s\nwant\n%s", got, all)
	}
}
