package findings

import (
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Pairs are told within each condition, by the levels of the other factors; of a
// trial's attempts the last counts.
func TestPairs(t *testing.T) {
	p := planOf(t, "udp_rr", "", spec.Factor{Name: "rx", Levels: []string{"softirq", "kthread"}},
		spec.Factor{Name: "rate", Levels: []string{"slow", "full"}, Condition: true}, spec.Factor{Name: "pinned", Levels: []string{"on", "off"}})
	in := Input{Plan: &p}
	var got []string
	for _, x := range in.pairs() {
		text := in.title(x)
		for i := range x.a {
			text += "; " + in.others(x, x.a[i]) + ": " + in.name(x.a[i]) + " | " + in.name(x.b[i])
		}
		got = append(got, text)
	}
	want := []string{
		"rx kthread against softirq (rate=slow); pinned=on: rx=softirq rate=slow pinned=on | rx=kthread rate=slow pinned=on; pinned=off: rx=softirq rate=slow pinned=off | rx=kthread rate=slow pinned=off",
		"pinned off against on (rate=slow); rx=softirq: rx=softirq rate=slow pinned=on | rx=softirq rate=slow pinned=off; rx=kthread: rx=kthread rate=slow pinned=on | rx=kthread rate=slow pinned=off",
		"rx kthread against softirq (rate=full); pinned=on: rx=softirq rate=full pinned=on | rx=kthread rate=full pinned=on; pinned=off: rx=softirq rate=full pinned=off | rx=kthread rate=full pinned=off",
		"pinned off against on (rate=full); rx=softirq: rx=softirq rate=full pinned=on | rx=softirq rate=full pinned=off; rx=kthread: rx=kthread rate=full pinned=on | rx=kthread rate=full pinned=off",
	}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %s\nwant %s", i, got[i], want[i])
		}
	}
	v := in.pairs()[0].a[0]
	for _, order := range [][]int{{1, 2}, {2, 1}} {
		in.Trials = nil
		for _, attempt := range order {
			in.Trials = append(in.Trials, result.Trial{Test: p.Tests[0], Variant: v, Block: 3, Attempt: attempt})
		}
		if got := in.trials(p.Tests[0], v); got[3] == nil || got[3].Attempt != 2 || got[2] != nil {
			t.Errorf("%v: %+v", order, got[3])
		}
	}
}
