package findings

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// madeUp is a plan with trials that somebody thought of.
type madeUp struct {
	factors []spec.Factor
	tests   string
	blocks  int
	// fill makes what a trial counted. With its noise, some tenths of a percent, no
	// two blocks are the same.
	fill func(t *made, noise float64)
}

// made is a trial in the making: of a window of a second.
type made struct{ *result.Trial }

// fataler is a test, or one of a property.
type fataler interface {
	Helper()
	Fatal(...any)
}

// input carries the plan out, but for trials that are to be left out.
func (m madeUp) input(t fataler, left ...func(*result.Trial) bool) *Input {
	t.Helper()
	tests, err := spec.ParseTests(m.tests, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := spec.Plan{Experiment: "made-up", Factors: m.factors, Baseline: spec.Variant{}, Tests: tests, Blocks: m.blocks,
		Warmup: time.Second / 4, Window: time.Second, Seed: 1, Margin: 0.02}
	for _, f := range m.factors {
		p.Baseline[f.Name] = f.Levels[0]
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var trials []result.Trial
	for _, slot := range p.Schedule() {
		for _, test := range slot.Tests {
			test, err := p.TestUnder(slot.Variant, test)
			if err != nil {
				t.Fatal(err)
			}
			x := result.Trial{Schema: result.Schema, Block: slot.Block, Order: len(trials), Attempt: 1, Variant: slot.Variant, Test: test,
				Start: time.Unix(1e9, 0).Add(time.Duration(len(trials)) * 2 * time.Second).UTC(), Warmup: p.Warmup, Window: p.Window,
				Local:  result.End{Role: result.Local, Elapsed: time.Second, Counts: map[string]int64{}},
				Remote: &result.End{Role: result.Remote, Elapsed: time.Second, Counts: map[string]int64{}},
				Path:   result.Path{Counts: map[string]int64{}}}
			m.fill(&made{&x}, 0.002*rng.NormFloat64())
			if !slices.ContainsFunc(left, func(f func(*result.Trial) bool) bool { return f(&x) }) {
				trials = append(trials, x)
			}
		}
	}
	r, err := compare.Build(p, trials, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Input{Plan: &p, Trials: trials, Report: &r}
}

// roundTrips has 200 of them, all of one length in ns.
func (t *made) roundTrips(ns float64) {
	t.Local.RTT = hist.New()
	for range 200 {
		t.Local.RTT.Record(int64(ns))
	}
	t.Local.Messages, t.Remote.Messages = 200, 200
	t.Local.Counts = map[string]int64{"sent": 200, "lost": 0, "late": 0}
}

// stream has what came within the window, in bit/s.
func (t *made) stream(bits float64) {
	t.Remote.Bytes = int64(bits / 8)
	t.Remote.Messages = t.Remote.Bytes / int64(t.Test.Params.Size)
	t.Local.Bytes, t.Local.Messages = t.Remote.Bytes, t.Remote.Messages
	if tcpStream(t.Test) {
		t.Local.Counts["retransmits"] = 0
		return
	}
	n := t.Remote.Messages
	for name, v := range map[string]int64{"sent": n, "sent_all": n, "send_errors": 0} {
		t.Local.Counts[name] = v
	}
	for name, v := range map[string]int64{"unique": n, "total": n, "duplicates": 0, "reordered": 0, "received_all": n,
		"socket_drops_all": 0, "duplicates_all": 0, "reordered_all": 0} {
		t.Remote.Counts[name] = v
	}
	t.path(map[string]int64{"a.tx_packets": n, "wire.a_to_b.frames_in": n, "wire.a_to_b.known_frames": n})
}

// path adds to what the link counted.
func (t *made) path(counts map[string]int64) {
	for name, n := range counts {
		t.Path.Counts[name] += n
	}
}

// reads adds a reading of a second.
func reads(e *result.End, source string, counts, levels map[string]int64) {
	if e.Counters == nil {
		e.Counters = &result.Counters{CPUs: []int{0}}
	}
	e.Counters.Readings = append(e.Counters.Readings, result.Reading{Source: source, Elapsed: time.Second, Counts: counts, Levels: levels})
}

// busy has an end take that share of a CPU, by an idle loop too if soak is set.
func busy(e *result.End, share float64, soak bool) {
	ns := func(v float64) int64 { return int64(v * 1e9) }
	if !soak {
		reads(e, result.SourceIdle, map[string]int64{"cpu0.idle": ns(1 - share)}, nil)
		return
	}
	reads(e, result.SourceCPU, map[string]int64{"cpu0.user": ns(share), "cpu0.nice": ns(1 - share)}, map[string]int64{"resolution_ns": 1000})
	reads(e, result.SourceSoak, map[string]int64{"cpu0.idle": ns(1 - share), "cpu0.loop_ns": ns(1 - share)},
		map[string]int64{"cpu0.calibration_rate": 1000, "calibration_rate": 1000, "calibration_spread_ppm": 100, "calibration_got_ppm": 999_000})
}

// says wants a sentence that has all of the words.
func says(t *testing.T, in *Input, words ...string) {
	t.Helper()
	for _, s := range in.Report.Findings {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, w) }) {
			return
		}
	}
	t.Errorf("no sentence has all of %q:\n%s", words, strings.Join(in.Report.Findings, "\n"))
}

// checkOf is the check whose name has some words.
func checkOf(t *testing.T, in *Input, name string) compare.Check {
	t.Helper()
	for _, c := range in.Report.Checks {
		if strings.Contains(c.Name, name) {
			return c
		}
	}
	t.Fatalf("no check %q among %+v", name, in.Report.Checks)
	return compare.Check{}
}

// sectionOf is the section of that name, whose rows must have a cell a column.
func sectionOf(t *testing.T, in *Input, name string) compare.Section {
	t.Helper()
	for _, s := range in.Report.Sections {
		for _, r := range s.Rows {
			if len(r.Cells) != len(s.Columns) {
				t.Errorf("section %s, row %s has %d cells in %d columns", s.Name, r.Label, len(r.Cells), len(s.Columns))
			}
			for _, c := range r.Cells {
				if c.Value == nil && c.Text == "" {
					t.Errorf("section %s, row %s: a cell says nothing", s.Name, r.Label)
				}
			}
		}
	}
	i := slices.IndexFunc(in.Report.Sections, func(s compare.Section) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no section %q", name)
	}
	return in.Report.Sections[i]
}

// cellOf is a cell by its row's label and its column's name.
func cellOf(t *testing.T, s compare.Section, label, column string) compare.Datum {
	t.Helper()
	at := slices.IndexFunc(s.Columns, func(c compare.Column) bool { return c.Name == column })
	row := slices.IndexFunc(s.Rows, func(l compare.Line) bool { return l.Label == label })
	if at < 0 || row < 0 {
		t.Fatalf("section %s has no row %q or no column %q: %+v", s.Name, label, column, s)
	}
	return s.Rows[row].Cells[at]
}

// about says that a cell has a value near another.
func about(t *testing.T, d compare.Datum, want, within float64) {
	t.Helper()
	if d.Value == nil || math.Abs(*d.Value-want) > within {
		t.Errorf("a cell has %+v, want %v within %v", d, want, within)
	}
}
