package traffic

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// watchedWaker looks from within at the CPUs that its threads may use and are on.
type watchedWaker struct {
	waker
	looked [2]int
	may    [2][]int
	on     [2]map[int]bool
}

func (w *watchedWaker) wait(side int) unix.Errno {
	errno := w.waker.wait(side)
	if w.looked[side]++; w.looked[side] <= 20 {
		w.may[side], _ = sys.OnlineCPUs() // the calling thread's own
		w.on[side][lastCPU(sys.ThreadID())] = true
	}
	return errno
}

// lastCPU is where a thread of this process ran last (proc(5), processor).
func lastCPU(tid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", tid))
	if err != nil {
		return -1
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	cpu, err := strconv.Atoi(fields[36]) // the 39th, and the first two are cut off
	if err != nil {
		return -1
	}
	return cpu
}

// A wake-up at the same CPU stays on it, and one at another crosses.
func TestWakeAt(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{spec.WakeSame, spec.WakeOther} {
		for _, busy := range []string{"", spec.WakeAwake, spec.WakeLoaded} {
			for _, own := range [][]int{nil, {cpus[len(cpus)-1]}} {
				t.Run(fmt.Sprintf("%s/%s/%v", at, busy, own), func(t *testing.T) {
					if at == spec.WakeOther && len(cpus) < 2 {
						labtest.Skip(t, errors.New("it takes two CPUs"))
					}
					e := newTestWake(t, spec.Params{By: "futex", At: at, Busy: busy}, 2*testWindow, own...)
					w := &watchedWaker{waker: e.way, on: [2]map[int]bool{{}, {}}}
					e.way = w
					end := finish(t, startWake(e))
					if end.Messages == 0 || end.RTT.Count() != end.Messages {
						t.Errorf("%d messages, %d samples, %v", end.Messages, end.RTT.Count(), end.Warnings)
					}
					want := [2]int{cpus[0], cpus[0]}
					if own != nil {
						want = [2]int{own[0], own[0]}
					}
					if at == spec.WakeOther {
						want[1] = cpus[slices.IndexFunc(cpus, func(cpu int) bool { return cpu != want[0] })]
					}
					for side, cpu := range want {
						if !slices.Equal(w.may[side], []int{cpu}) || len(w.on[side]) != 1 || !w.on[side][cpu] {
							t.Errorf("thread %d may use CPUs %v and ran on %v, want %d", side, w.may[side], w.on[side], cpu)
						}
					}
				})
			}
		}
	}
}

// Where there is one CPU only, threads on two are unavailable, whatever the end is
// bound to; on one they are not.
func TestWakeAtOtherNeedsTwo(t *testing.T) {
	done := make(chan error)
	go func() { // on a thread that ends with it
		if err := sys.PinThread(0); err != nil {
			done <- err
			return
		}
		for _, at := range []string{spec.WakeSame, spec.WakeOther} {
			cfg := Config{Role: result.Local, Test: spec.Test{Name: "wake", Params: spec.Params{By: "futex", At: at}}, Window: testWindow, CPU: sys.NoCPU, Addr: loopbacks["ipv4"]}
			_, err := New(cfg)
			if at == spec.WakeSame && err != nil {
				done <- err
				return
			}
			if at == spec.WakeOther && (!errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "it may use CPU 0")) {
				done <- fmt.Errorf("on two CPUs of one: %w", err)
				return
			}
		}
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// loopThreads are those of the loops that still exist.
func loopThreads(b *busyLoops) []int {
	return slices.DeleteFunc(slices.Clone(b.tids), func(tid int) bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
		return err != nil
	})
}

// The loops run on the test's CPUs while it does, in the class that is asked for,
// take CPU time, which is none of the engine's, and are gone when it is over,
// however it ends.
func TestWakeBusy(t *testing.T) {
	for busy, policy := range map[string]uint32{spec.WakeAwake: unix.SCHED_IDLE, spec.WakeLoaded: unix.SCHED_NORMAL} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fails=%v", busy, fails), func(t *testing.T) {
				var usage Usage
				e := newTestWake(t, spec.Params{By: "pipe", At: spec.WakeSame, Busy: busy}, 4*testWindow)
				e.cfg.Usage, e.busy.usage, e.meter.usage = &usage, &usage, &usage
				w := &faultyWaker{waker: e.way}
				if fails {
					w.lose.Store(40)
				}
				e.way = &lookingWaker{waker: w, loops: e.busy}
				end := finish(t, startWake(e))
				l := e.way.(*lookingWaker)
				if len(e.busy.tids) != 1 || l.class != policy || l.loopTime == 0 {
					t.Errorf("loops %v of class %d with %v of CPU time, want one of class %d", e.busy.tids, l.class, time.Duration(l.loopTime), policy)
				}
				if warned(end, WarnUnfinished) != fails {
					t.Errorf("warnings %v", end.Warnings)
				}
				if l.apart < l.loopTime {
					t.Errorf("%v of CPU time are apart from the engine's, and the loop had %v", time.Duration(l.apart), time.Duration(l.loopTime))
				}
				for until := time.Now().Add(10 * time.Second); len(loopThreads(e.busy)) > 0; {
					if time.Now().After(until) {
						t.Fatalf("threads %v of loops are left", loopThreads(e.busy))
					}
				}
			})
		}
	}
}

// lookingWaker looks at the loops beside it.
type lookingWaker struct {
	waker
	loops    *busyLoops
	class    uint32
	loopTime int64
	apart    int64 // by the engine's usage, looked at later
	looks    int
}

func (w *lookingWaker) wait(side int) unix.Errno {
	if side == 0 {
		if w.looks++; w.looks%8 == 1 && w.looks < 4000 {
			if attr, err := unix.SchedGetAttr(w.loops.tids[0], 0); err == nil {
				w.class = attr.Policy
			}
			if n, err := sys.ThreadTime(w.loops.tids[0]); err == nil {
				w.loopTime, w.apart = n, w.loops.usage.Apart()
			}
		}
	}
	return w.waker.wait(side)
}

func TestWakeBusyAllocatesNothing(t *testing.T) {
	const once, count = 300, 1000
	for _, busy := range []string{spec.WakeAwake, spec.WakeLoaded} {
		e := newTestWake(t, spec.Params{Busy: busy, At: spec.WakeSame, Count: count}, time.Minute)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		messages := finish(t, startWake(e)).Messages
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; messages != count || n > once {
			t.Errorf("%s: %d objects were allocated for %d round trips", busy, n, messages)
		}
	}
}
