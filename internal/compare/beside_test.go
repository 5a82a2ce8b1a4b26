package compare

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// wakeTrial is one of a test beside, whose round trips lie around ns.
func wakeTrial(test spec.Test, block, order, attempt int, ns float64, rng *rand.Rand) result.Trial {
	h := hist.New()
	for range 200 {
		h.Record(int64(ns * (1 + 0.01*rng.Float64())))
	}
	return result.Trial{Schema: result.Schema, Block: block, Order: order, Attempt: attempt, Test: test,
		Local: result.End{Role: result.Local, Elapsed: 1e9, Messages: 200, RTT: h, Counts: map[string]int64{"sent": 200}}}
}

// Trials beside are in the report's own place, and change nothing else in it.
func TestBesideIsApart(t *testing.T) {
	s := rxContext(t, 8)
	own := s.run()
	plain := build(t, s.plan, own, Options{})
	s.plan.Beside = []spec.Test{{Name: "wake", Params: spec.Params{By: "futex", At: spec.WakeSame}}, {Name: "wake", Params: spec.Params{By: "pipe"}}}
	rng := rand.New(rand.NewPCG(1, 1))
	trials := slices.Clone(own)
	for b := range 6 {
		x := wakeTrial(s.plan.Beside[0], b, len(trials), 1, 4000, rng)
		x.Warnings = []result.Warning{{Code: "busy-before", Text: "the machine was busy for 9%"}}
		trials = slices.Insert(trials, b*5, x)
	}
	// A first attempt counts no more when there is a second.
	trials = append(trials, wakeTrial(s.plan.Beside[0], 0, len(trials), 2, 4000, rng), wakeTrial(s.plan.Beside[0], 1, len(trials), 0, 9000, rng))
	none := wakeTrial(s.plan.Beside[1], 0, len(trials), 1, 1, rng)
	none.Local = result.End{Role: result.Local}
	none.Warnings = []result.Warning{{Code: result.Unavailable, Text: "no pipe"}}
	trials = append(trials, none)

	r := build(t, s.plan, trials, Options{})
	if len(r.Beside) != 4 {
		t.Fatalf("figures beside: %+v", r.Beside)
	}
	for i, want := range []struct {
		test   spec.Test
		metric string
		n      int
	}{{s.plan.Beside[0], result.RTTP50, 6}, {s.plan.Beside[0], result.RTTP99, 6}, {s.plan.Beside[1], result.RTTP50, 0}, {s.plan.Beside[1], result.RTTP99, 0}} {
		b := &r.Beside[i]
		if b.Of() != want.test || b.Metric != want.metric || b.N != want.n || (b.Median != nil) != (want.n > 0) {
			t.Errorf("figure %d: %+v", i, b)
		}
		if want.n > 0 && (*b.Median < 4000 || *b.Median > 4100 || b.Lo == nil || *b.Lo > *b.Median || *b.Hi < *b.Median || *b.Max > 4100) {
			t.Errorf("figure %d: median %v of %v to %v, largest %v", i, *b.Median, b.Lo, b.Hi, *b.Max)
		}
	}
	told := map[string]string{}
	for _, w := range r.Warnings {
		told[w.Code] = w.Text
	}
	if !strings.Contains(told["busy-before"], "wake at=same, 5 of 6 trials: the machine") {
		t.Errorf("warnings %v", told)
	}
	if !strings.Contains(told[result.Unavailable], "wake pipe, the one trial: no pipe") {
		t.Errorf("warnings %v", told)
	}
	r.Beside, r.Warnings, plain.Warnings = nil, nil, nil
	if d := cmp.Diff(plain, r); d != "" {
		t.Errorf("the rest of the report (-without +with)\n%s", d)
	}

	s.plan.Precision = 0.5
	with, err := PrecisionOf(s.plan, trials)
	if err != nil {
		t.Fatal(err)
	}
	s.plan.Beside = nil
	without, err := PrecisionOf(s.plan, own)
	if err != nil || with != without {
		t.Errorf("precision %+v, without tests beside %+v, %v", with, without, err)
	}
	// What is beside no plan is none of its trials.
	if _, err := Build(s.plan, trials, Options{}); err == nil {
		t.Error("a trial of no variant is taken for the plan's")
	}
}

func TestEachIsReported(t *testing.T) {
	s := rxContext(t, 6)
	trials := s.run()
	want := map[string][]int64{}
	for i := range trials {
		x := &trials[i]
		if x.Test.Name != "icmp_echo" || x.Block > 0 {
			continue
		}
		x.Local.Each = []int64{int64(i), -1, 7}
		want[x.Variant["rx"]] = x.Local.Each
		x.Local.Counts = maps.Clone(x.Local.Counts)
		x.Local.Counts["sent"] = 500
		x.Local.Messages = 490
	}
	slices.Reverse(trials)
	// Of a trial that was tried again the last attempt counts, wherever it is listed.
	var again []result.Trial
	for i := range trials {
		if x := &trials[i]; len(x.Local.Each) > 0 {
			again = append(again, *x)
			again[len(again)-1].Attempt++
			x.Local.Each = []int64{-1}
		}
	}
	trials = slices.Concat(again[:1], trials, again[1:])
	r := build(t, s.plan, trials, Options{})
	if len(r.Each) != len(want) {
		t.Fatalf("%d lists, want %d", len(r.Each), len(want))
	}
	for i, e := range r.Each {
		if !slices.Equal(e.RTT, want[e.Variant]) || e.Of != 500 || e.Block != 0 || e.Test != "icmp_echo" {
			t.Errorf("list %+v, want %v", e, want[e.Variant])
		}
		if i > 0 && e.RTT[0] <= r.Each[i-1].RTT[0] {
			t.Error("lists are not in the order of the trials")
		}
	}
}
