package worker

import (
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// wakeOn runs a wake test in a worker that may use some CPUs alone.
func wakeOn(t *testing.T, p spec.Params, cpus ...int) (*result.End, error) {
	t.Helper()
	cfg := loopbackConfig("wake", result.Local, window)
	p.By = "futex"
	cfg.Test.Params, cfg.Each = p, 10
	type outcome struct {
		w   *Worker
		err error
	}
	started := make(chan outcome)
	go func() { // on a thread that ends with it
		runtime.LockOSThread()
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		err := unix.SchedSetaffinity(0, &set)
		var w *Worker
		if err == nil {
			w, err = Start(nil)
		}
		started <- outcome{w, err}
	}()
	o := <-started
	if o.err != nil {
		t.Fatal(o.err)
	}
	defer o.w.Close()
	if _, err := o.w.Prepare(t.Context(), cfg); err != nil {
		return nil, err
	}
	if err := o.w.Arm(t.Context(), netip.AddrPort{}); err != nil {
		return nil, err
	}
	return o.w.Run(t.Context())
}

// A worker finds CPUs for the threads and runs loops beside them, also where all of
// them share one CPU with everything else that it does.
func TestWakeAtAndBusy(t *testing.T) {
	labtest.NoLeaks(t)
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []spec.Params{
		{At: spec.WakeSame}, {At: spec.WakeSame, Busy: spec.WakeAwake}, {At: spec.WakeSame, Busy: spec.WakeLoaded},
		{At: spec.WakeOther}, {At: spec.WakeOther, Busy: spec.WakeAwake}, {At: spec.WakeOther, Busy: spec.WakeLoaded},
	} {
		for _, some := range [][]int{cpus, cpus[:1]} {
			end, err := wakeOn(t, p, some...)
			if p.At == spec.WakeOther && len(some) == 1 {
				var e *Error
				if !errors.Is(err, feature.ErrUnavailable) || !errors.As(err, &e) || !strings.Contains(e.Text, "two CPUs") {
					t.Errorf("%+v on CPUs %v: %v", p, some, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%+v on CPUs %v: %v", p, some, err)
				continue
			}
			if end.Messages == 0 || int64(len(end.Each)) != min(10, end.Messages) || slices.Contains(end.Each, 0) {
				t.Errorf("%+v on CPUs %v: %d round trips, kept %v", p, some, end.Messages, end.Each)
			}
		}
	}
}
