package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

func TestWakersAreTheSpecs(t *testing.T) {
	var names []string
	for _, w := range wakers {
		names = append(names, w.name)
	}
	if want := spec.WakeMethods(); !slices.Equal(names, want) {
		t.Errorf("ways %v, want %v", names, want)
	}
}

// newTestWake is armed, with its threads on those CPUs.
func newTestWake(t *testing.T, p spec.Params, window time.Duration, cpus ...int) *wake {
	t.Helper()
	cfg := Config{Role: result.Local, Test: spec.Test{Name: "wake", Params: p}, Warmup: testWarmup, Window: window, CPU: sys.NoCPU, Addr: loopbacks["ipv4"]}
	if len(cpus) > 0 {
		cfg.CPU, cfg.CPUs = cpus[0], cpus[1:]
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if port, err := e.Prepare(); err != nil || port != 0 {
		t.Fatal(port, err)
	}
	if err := e.Arm(netip.AddrPort{}); err != nil {
		t.Fatal(err)
	}
	return e.(*wake)
}

// startWake runs it on a thread of its own, bound as a worker binds it.
func startWake(e *wake) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		end, err := result.End{}, BindThread(&e.cfg, 0)
		if err == nil {
			end, err = e.Run()
		}
		done <- outcome{end, err} // the thread ends with this goroutine
	}()
	return done
}

func TestWake(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	first, last := cpus[0], cpus[len(cpus)-1]
	for _, by := range spec.WakeMethods() {
		for _, places := range [][]int{nil, {first, first}, {first, last}, {last}} {
			t.Run(fmt.Sprintf("%s/%v", by, places), func(t *testing.T) {
				e := newTestWake(t, spec.Params{By: by}, testWindow, places...)
				end := finish(t, startWake(e))
				if end.Messages == 0 || end.RTT.Count() != end.Messages || end.Counts[CountSent] != end.Messages || len(end.Warnings) > 0 {
					t.Errorf("%d messages, %d samples, %v, %v", end.Messages, end.RTT.Count(), end.Counts, end.Warnings)
				}
				if sum := end.RTT.Mean() * float64(end.Messages); sum < 0.999*float64(end.Elapsed) || sum > 1.001*float64(end.Elapsed) {
					t.Errorf("round trips sum up to %v of %v", time.Duration(sum), end.Elapsed)
				}
				if end.Elapsed < testWindow || end.Bytes != 0 || end.Validate() != nil {
					t.Errorf("%d bytes in %v, %v", end.Bytes, end.Elapsed, end.Validate())
				}
			})
		}
	}
}

func TestWakeCount(t *testing.T) {
	const count = 10
	end := finish(t, startWake(newTestWake(t, spec.Params{Count: count}, time.Minute)))
	if end.Messages != count {
		t.Errorf("%d round trips, want %d", end.Messages, count)
	}
}

// faultyWaker loses wake-ups of thread 1, or fails it.
type faultyWaker struct {
	waker
	lose atomic.Int64 // the number of the wake-up, counted down
	fail unix.Errno
}

func (w *faultyWaker) wake(side int) unix.Errno {
	if side == 1 && w.lose.Add(-1) == 0 {
		return 0
	}
	return w.waker.wake(side)
}

func (w *faultyWaker) wait(side int) unix.Errno {
	errno := w.waker.wait(side)
	if side == 1 && w.fail != 0 {
		return w.fail
	}
	return errno
}

// A wake-up that gets lost, or a thread that is gone, does not keep the other.
func TestWakePartnerGone(t *testing.T) {
	for _, by := range spec.WakeMethods() {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			e := newTestWake(t, spec.Params{By: by}, testWindow)
			w := &faultyWaker{waker: e.way}
			w.lose.Store(3)
			e.way = w
			began := time.Now()
			end := finish(t, startWake(e))
			if took := time.Since(began); took > 2*testWindow+unfinishedTime+5*time.Second {
				t.Errorf("took %v", took)
			}
			if !warned(end, WarnUnfinished) || end.RTT.Count() != end.Messages || end.Messages > 2 {
				t.Errorf("%d messages, %d samples, %v", end.Messages, end.RTT.Count(), end.Warnings)
			}

			e = newTestWake(t, spec.Params{By: by}, time.Minute)
			e.way = &faultyWaker{waker: e.way, fail: unix.EIO}
			if o := wait(t, startWake(e)); !errors.Is(o.err, unix.EIO) || !strings.Contains(o.err.Error(), by) {
				t.Errorf("a thread that fails: %+v, %v", o.end, o.err)
			}
		})
	}
}

func TestWakeAllocatesNothing(t *testing.T) {
	for _, by := range spec.WakeMethods() {
		const once = 200
		var allocated, messages int64
		for range 10 { // a busy machine may let too few through
			e := newTestWake(t, spec.Params{By: by}, 2*testWindow)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			messages = finish(t, startWake(e)).Messages
			runtime.ReadMemStats(&after)
			if allocated = int64(after.Mallocs - before.Mallocs); messages >= 2*once {
				break
			}
		}
		if messages < 2*once || allocated > once {
			t.Errorf("%s: %d objects were allocated for %d round trips", by, allocated, messages)
		}
	}
}
