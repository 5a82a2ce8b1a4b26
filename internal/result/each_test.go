package result

import (
	"slices"
	"strings"
	"testing"

	"netdelta/internal/spec"
)

func TestEachOfAnEnd(t *testing.T) {
	for _, c := range []struct {
		each    []int64
		wantErr string // "" for what can be
	}{
		{nil, ""},
		{[]int64{0, 12, -1}, ""},
		{[]int64{5, -2}, "round trip 2 took -2 ns"},
		{make([]int64, spec.MaxEach), ""},
		{make([]int64, spec.MaxEach+1), "100001 round trips one by one are more than the 100000"},
	} {
		trial := Trial{Test: spec.Test{Name: "wake", Params: spec.Params{By: "futex", At: spec.WakeOther, Busy: spec.WakeAwake}}, Local: End{Role: Local, Each: c.each}}
		data, err := Encode(trial)
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%d kept: got %v, want %q", len(c.each), err, c.wantErr)
		}
		if err != nil {
			continue
		}
		back, err := Decode(data)
		if err != nil || !slices.Equal(back.Local.Each, c.each) || back.Test != trial.Test || len(back.Variant) != 0 {
			t.Errorf("%d kept: read back %+v, %v", len(c.each), back.Test, err)
		}
	}
}

// Where the threads of a test are to share a CPU, that they do is no fault.
func TestSharedCPUs(t *testing.T) {
	for _, c := range []struct {
		p    spec.Params
		want bool
	}{{spec.Params{At: spec.WakeSame}, true}, {spec.Params{Busy: spec.WakeLoaded}, true}, {spec.Params{At: spec.WakeOther}, false}, {spec.Params{}, false}} {
		trial := Trial{Test: spec.Test{Name: "wake", Params: c.p}}
		if got := trial.sharesCPUs(); got != c.want {
			t.Errorf("%+v: got %v", c.p, got)
		}
	}
}
