package compare

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// crossed makes trials of two factors from one figure for each variant, the
// same in every block but for a common drift.
func crossed(t *testing.T, goodput map[string]int64) (spec.Plan, []result.Trial) {
	t.Helper()
	s := factorial(t)
	s.plan.Tests = tests(t, "tcp_stream")
	s.plan.Factors = []spec.Factor{{Name: "os", Levels: []string{"panther", "tiger"}}, {Name: "rx", Levels: []string{"loop", "filter"}}}
	s.plan.Baseline = spec.Variant{"os": "panther", "rx": "loop"}
	var trials []result.Trial
	for _, slot := range s.plan.Schedule() {
		n := goodput[slot.Variant.Key(s.plan.Factors)] * int64(slot.Block+1)
		trials = append(trials, result.Trial{Block: slot.Block, Variant: slot.Variant, Test: s.plan.Tests[0],
			Local:  result.End{Role: result.Local, Elapsed: s.plan.Window, Bytes: 1, Counts: map[string]int64{"retransmits": n}},
			Remote: &result.End{Role: result.Remote, Elapsed: s.plan.Window, Bytes: n}})
	}
	return s.plan, trials
}

// Short-message latencies of a driver in two receive contexts on two releases
// of one system, in tenths of a microsecond: 171, 99; 100, 80. The contexts
// and releases interact, as computed by hand below.
func TestFactorialEffects(t *testing.T) {
	plan, trials := crossed(t, map[string]int64{
		"os=panther rx=loop": 171000, "os=panther rx=filter": 99000,
		"os=tiger rx=loop": 100000, "os=tiger rx=filter": 80000,
	})
	r := build(t, plan, trials, Options{})
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, value(got), want)
		}
	}
	percent := func(ratio float64) float64 { return 100 * (ratio - 1) }

	tiger := find(t, r.Comparisons, "tiger", "tcp_stream", "goodput")
	near("tiger against panther", tiger.DeltaPct, percent(math.Sqrt(100./171*80/99)))
	filter := find(t, r.Comparisons, "filter", "tcp_stream", "goodput")
	near("filter against loop", filter.DeltaPct, percent(math.Sqrt(99./171*80/100)))
	if filter.Factor != "rx" || filter.Baseline != "loop" || tiger.N != 8 || filter.Verdict != Worse {
		t.Errorf("filter: %+v", filter)
	}
	// Each side is the geometric mean over the other factor, times 8 bits and
	// 5 windows a second; the median of blocks 1 to 8 times as much is 4.5.
	near("panther's median", tiger.A.Median, 40*4.5*math.Sqrt(171000*99000))

	if len(r.Effects) != len(result.Present(result.Definitions(plan.Tests[0]), func(result.Taken) bool { return false })) {
		t.Fatalf("%d effects", len(r.Effects))
	}
	both := find(t, r.Effects, "tiger:filter", "tcp_stream", "goodput")
	near("the interaction", both.DeltaPct, percent((80./100)/(99./171)))
	if both.Factor != "os:rx" || both.Baseline != "panther:loop" || both.A.Median != nil || both.N != 8 || both.Verdict != Better {
		t.Errorf("the interaction: %+v", both)
	}
	// Retransmits are compared as differences: (80-100) - (99-171) thousand a
	// window, times 5 windows a second.
	add := find(t, r.Effects, "tiger:filter", "tcp_stream", "retransmits")
	near("the interaction of a difference", add.Delta, 5*52000*4.5)
}

func TestThreeFactorsHaveEachPair(t *testing.T) {
	plan := factorial(t).plan
	plan.Factors = append(plan.Factors, spec.Factor{Name: "mtu", Levels: []string{"1500", "9000", "65535"}})
	plan.Baseline["mtu"] = "9000"
	got := map[string]int{}
	for _, c := range interactions(&plan, plan.Variants()) {
		if len(c.minus) != len(c.plus) || c.weight != 2 {
			t.Errorf("%s: %d against %d variants, weight %v", c.variant, len(c.plus), len(c.minus), c.weight)
		}
		seen := map[int]bool{}
		for _, v := range append(append([]int{}, c.minus...), c.plus...) {
			if seen[v] {
				t.Errorf("%s: variant %d twice", c.variant, v)
			}
			seen[v] = true
		}
		got[c.factor+" "+c.variant+" "+c.baseline] = len(c.plus)
	}
	// Two cells on each side, of as many variants as the third factor has
	// levels.
	want := map[string]int{"rx:offload kthread:on softirq:off": 6,
		"rx:mtu kthread:1500 softirq:9000": 4, "rx:mtu kthread:65535 softirq:9000": 4,
		"offload:mtu on:1500 off:9000": 4, "offload:mtu on:65535 off:9000": 4}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
