package traffic

import (
	"slices"
	"testing"

	"netdelta/internal/spec"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		at          string
		own, usable []int
		want        []int // nil for too few
	}{
		{spec.WakeSame, []int{-1}, []int{2, 3}, []int{2}},
		{spec.WakeSame, []int{5}, []int{2, 3}, []int{5}},
		{spec.WakeSame, []int{5, 6}, []int{2, 3}, []int{5}},
		{spec.WakeSame, []int{-1}, nil, nil},
		{spec.WakeOther, []int{-1}, []int{2, 3, 4}, []int{2, 3}},
		{spec.WakeOther, []int{3, 2, 4}, []int{2, 3, 4}, []int{3, 2}},
		{spec.WakeOther, []int{3}, []int{2, 3}, []int{3, 2}},
		{spec.WakeOther, []int{3, 3}, []int{2, 3}, []int{3, 2}},
		{spec.WakeOther, []int{-1}, []int{0}, nil},
		{spec.WakeOther, []int{0, 0}, []int{0}, nil},
	} {
		got, ok := choose(c.at, c.own, c.usable)
		if ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
			t.Errorf("%s of %v and %v: got %v, %v, want %v", c.at, c.own, c.usable, got, ok, c.want)
		}
	}
}

// Tests that do not say how their threads lie keep the CPUs that they have.
func TestPlaceLeavesOthersAlone(t *testing.T) {
	for _, test := range []spec.Test{{Name: "wake", Params: spec.Params{By: "futex"}}, {Name: "udp_rr", Params: spec.Params{At: spec.WakeOther}}} {
		cfg := Config{Test: test, CPU: 7, CPUs: []int{8}}
		if err := Place(&cfg); err != nil || cfg.CPU != 7 || !slices.Equal(cfg.CPUs, []int{8}) {
			t.Errorf("%s: CPU %d and %v, %v", test, cfg.CPU, cfg.CPUs, err)
		}
	}
}
