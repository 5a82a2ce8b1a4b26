package compare

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// withCosts gives trials' local ends what a host counted: a CPU that was busy for a
// tenth of the reading.
func withCosts(trials []result.Trial, of func(*result.Trial) bool) {
	for i := range trials {
		if x := &trials[i]; of(x) {
			x.Local.Counters = &result.Counters{CPUs: []int{0}, Readings: []result.Reading{{Source: result.SourceIdle,
				Elapsed: time.Second, Counts: map[string]int64{"cpu0.idle": 9e8}}}}
		}
	}
}

// Rows of what hosts count are there if any trial has them, and those that lack
// them say why.
func TestRowsOfCounters(t *testing.T) {
	s := rxContext(t, 6)
	has := func(r Report, test, metric string) (rows []Comparison) {
		for _, c := range r.Comparisons {
			if c.Test == test && c.Metric == metric {
				rows = append(rows, c)
			}
		}
		return rows
	}
	trials := s.run()
	if rows := has(build(t, s.plan, trials, Options{}), "tcp_rr", result.CPUPerOp); len(rows) != 0 {
		t.Errorf("rows that nobody counted: %+v", rows)
	}
	withCosts(trials, func(x *result.Trial) bool { return x.Test.Name == "tcp_rr" && x.Variant["rx"] != "inline" })
	r := build(t, s.plan, trials, Options{})
	if rows := has(r, "udp_rr", result.CPUPerOp); len(rows) != 0 {
		t.Errorf("rows of a test in which nobody counted: %+v", rows)
	}
	rows := has(r, "tcp_rr", result.CPUPerOp)
	if len(rows) != 3 {
		t.Fatalf("%d rows, want one for each level: %+v", len(rows), rows)
	}
	for _, c := range rows {
		uncounted := len(c.Warnings) == 1 && c.Warnings[0].Code == result.NotAsked
		if inline := c.Variant == "inline"; c.End != result.Local || inline != (c.N == 0) || inline != uncounted {
			t.Errorf("%s: n %d, %+v", c.Variant, c.N, c.Warnings)
		}
		if c.N == 0 && c.Change(1) != "n/a (not asked)" {
			t.Errorf("%s: %s", c.Variant, c.Change(1))
		}
	}
}

// Between two hosts a loss is found at their counters, and what none has is where
// nothing counts.
func TestLossPlacesAtHosts(t *testing.T) {
	whole := func(source string, counts map[string]int64) result.Reading {
		return result.Reading{Source: source, Elapsed: time.Second, Counts: counts}
	}
	x := result.Trial{Test: tests(t, "udp_stream")[0],
		Local: result.End{Counts: map[string]int64{"sent_all": 1000},
			Counters: &result.Counters{Whole: []result.Reading{whole(result.SourceQdisc, map[string]int64{"drops": 100})}}},
		Remote: &result.End{Counts: map[string]int64{"received_all": 500, "socket_drops_all": 150},
			Counters: &result.Counters{Whole: []result.Reading{whole(result.SourceDevice, map[string]int64{"rx_missed": 50})}}}}
	b := bundle{test: x.Test, trials: []*cell{newCell(&x)}}
	l, lost := b.loss()
	want := []Place{{result.Local, "qdisc.drops", 0.1}, {result.Remote, "device.rx_missed", 0.05}, {result.Remote, "socket_drops", 0.15}}
	if d := cmp.Diff(want, l.Places, cmpopts.EquateApprox(0, 1e-12)); !lost || d != "" || math.Abs(value(l.Unnamed)-0.2) > 1e-12 {
		t.Errorf("unnamed %v, places: %s", value(l.Unnamed), d)
	}

	// Counters of fragments, or of what had many datagrams in it, can't say how
	// many are left.
	if l.Frames {
		t.Error("whole datagrams are said to be parts")
	}
	for _, of := range []spec.Params{{Size: 4096}, {Size: 1024, Send: "gso"}} {
		x.Test.Params = of
		x.Local.Counters.Whole = []result.Reading{whole(result.SourceQdisc, map[string]int64{"drops": 100}),
			{Source: result.SourceDevice, Elapsed: time.Second, Levels: map[string]int64{"mtu": 1500}}}
		b := bundle{test: x.Test, trials: []*cell{newCell(&x)}}
		if l, lost := b.loss(); !lost || !l.Frames || l.Unnamed != nil || len(l.Places) != 3 {
			t.Errorf("%s: %+v", x.Test, l)
		}
	}
}

// Counts for each packet and time for each second have margins that are no
// counts per second.
func TestMarginsOfCosts(t *testing.T) {
	for _, c := range []struct {
		unit           unit.Unit
		baseline, want float64
	}{
		{unit.SecondsPerSecond, 0.5, 0.02}, {unit.PerPacket, 0.05, 0.002}, {unit.PerPacket, 0.5, 0.01}, {unit.PerPacket, 10, 0.2}, {unit.PerOp, 0.5, 0.02}, {unit.PerOp, math.NaN(), 0.02}, {unit.PerSecond, 1000, 20},
	} {
		if got := margin(0.02, time.Second, result.Definition{Scale: Difference, Unit: c.unit}, c.baseline); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s of %v: %v, want %v", c.unit, c.baseline, got, c.want)
		}
	}
	zero := Comparison{Metric: result.CPU, Unit: unit.SecondsPerSecond, Scale: Percent, End: result.Local}
	zero.scaleOf([]*cell{{figures: map[result.Taken]float64{{Name: result.CPU, End: result.Local}: 0}}})
	if len(zero.Warnings) != 1 || zero.Warnings[0].Advice != "measure for longer (--time)" {
		t.Errorf("a cost of 0: %+v", zero.Warnings)
	}
}

// A run of an older program, which counted nothing, is compared with one that did:
// by what both have, and with a reason for what only one has.
func TestRunsWithAndWithoutCounters(t *testing.T) {
	b := newBoots(t, 1, "tcp_rr")
	old, new := b.run("old", 8, 1), b.run("new", 8, 1)
	withCosts(new.Trials, func(*result.Trial) bool { return true })
	r := compareRuns(t, []Kept{old}, []Kept{new}, RunsOptions{})
	for _, c := range r.Comparisons {
		switch c.Metric {
		case result.RTTP50:
			if c.N == 0 || c.DeltaPct == nil || slices.ContainsFunc(c.Warnings, func(w result.Warning) bool { return w.Code == result.NotAsked }) {
				t.Errorf("what both have: %+v", c)
			}
		case result.CPUPerOp:
			if c.End != result.Local || c.A.Median != nil || c.B.Median == nil || c.DeltaPct != nil || c.Verdict != Unsure || c.Change(1) != "n/a (not asked)" {
				t.Errorf("what one has: %+v", c)
			}
		}
	}
	if !slices.ContainsFunc(r.Comparisons, func(c Comparison) bool { return c.Metric == result.CPUPerOp }) {
		t.Error("no row of what only the new run has")
	}
}
