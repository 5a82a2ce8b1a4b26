package counters

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// tries is how often a test looks again whether a busy machine has given it
// what it needs, and soakPatience how long it waits for a calibration there.
const (
	tries        = 8
	soakPatience = 90 * time.Second
)

// soaked opens loops on CPUs. Where something else is busy there, it tries
// again.
func soaked(t *testing.T, cpus ...int) *soak {
	t.Helper()
	var err error
	for end := time.Now().Add(soakPatience); time.Now().Before(end); {
		var s source
		if s, err = openSoak(&Options{CPUs: cpus, threads: &threads{}, root: "/"}); err == nil {
			t.Cleanup(func() {
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
			return s.(*soak)
		}
	}
	t.Fatal(err)
	return nil
}

// lastCPU is the highest of the CPUs.
func lastCPU(t *testing.T) int {
	t.Helper()
	cpus, err := sys.OnlineCPUs()
	if err != nil || len(cpus) == 0 {
		t.Fatal(cpus, err)
	}
	return cpus[len(cpus)-1]
}

// during is what the source counts while f runs.
func (s *soak) during(t *testing.T, f func()) result.Reading {
	t.Helper()
	before, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	f()
	after, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	r, err := reading(result.SourceSoak, before, after)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSoakCalibrates(t *testing.T) {
	labtest.NoLeaks(t)
	cpu := lastCPU(t)
	s := soaked(t, cpu, cpu) // named twice, it has one loop
	if len(s.loops) != 1 {
		t.Fatalf("%d loops", len(s.loops))
	}
	s.start()
	var r result.Reading
	for range tries {
		r = s.during(t, func() { time.Sleep(30 * time.Millisecond) })
		// What the loop did is what it had the CPU for, but for interrupts.
		idle, cpuTime := r.Counts[fmt.Sprintf("cpu%d.idle", cpu)], r.Counts[fmt.Sprintf("cpu%d.loop_ns", cpu)]
		if idle > 1e6 && idle <= int64(r.Elapsed) && idle > cpuTime*8/10 && idle < cpuTime*12/10 {
			break
		}
		t.Log(r)
		r = result.Reading{}
	}
	if r.Source == "" {
		t.Error("never was what the loop did near to the time that it had")
	}
	if rate := r.Levels["calibration_rate"]; rate < 1000 || rate != r.Levels[fmt.Sprintf("cpu%d.calibration_rate", cpu)] {
		t.Errorf("levels %v", r.Levels)
	}
	if got := r.Levels["calibration_got_ppm"]; got < 10_000 || got > 1e6 {
		t.Errorf("levels %v", r.Levels)
	}
	if _, ok := r.Levels["calibration_spread_ppm"]; !ok {
		t.Errorf("levels %v", r.Levels)
	}
}

// TestSoakSeesLoad: what a thread on the loop's CPU takes, whether always or
// half of the time, the loop lacks.
func TestSoakSeesLoad(t *testing.T) {
	cpu := lastCPU(t)
	s := soaked(t, cpu)
	s.start()
	for _, busy := range []time.Duration{4 * time.Millisecond, 2 * time.Millisecond} {
		seen := false
		for range tries {
			var took int64
			r := s.during(t, func() { took = load(t, cpu, busy, 4*time.Millisecond, 60*time.Millisecond) })
			lacks := int64(r.Elapsed) - r.Counts[fmt.Sprintf("cpu%d.idle", cpu)]
			// Others may run there too: all together is what the loop's thread had
			// not.
			others := int64(r.Elapsed) - r.Counts[fmt.Sprintf("cpu%d.loop_ns", cpu)]
			if seen = lacks > took*9/10 && max(lacks-others, others-lacks) < int64(r.Elapsed)/8; seen {
				break
			}
			t.Logf("load of %v in 4ms took %v of %v; the loop lacks %v", busy, time.Duration(took), r.Elapsed, time.Duration(lacks))
		}
		if !seen {
			t.Errorf("a load of %v in 4ms was not seen", busy)
		}
	}
}

// load has a thread on a CPU work for a part of each period, and returns the
// CPU time that it had.
func load(t *testing.T, cpu int, busy, period, whole time.Duration) (took int64) {
	done := make(chan error)
	go func() {
		err := sys.PinThread(cpu)
		var before, after int64
		if err == nil {
			before, err = sys.ThreadTime(sys.ThreadID())
		}
		for began := sys.Nanotime(); err == nil && sys.Nanotime()-began < int64(whole); {
			round := sys.Nanotime()
			for sys.Nanotime()-round < int64(busy) {
			}
			time.Sleep(period - busy)
		}
		if err == nil {
			after, err = sys.ThreadTime(sys.ThreadID())
		}
		took = after - before
		done <- err
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return took
}

// TestSoakSeesSoftirqs: packets that loopback brings are taken in by softirqs,
// on the CPU that sends them.
func TestSoakSeesSoftirqs(t *testing.T) {
	cpu := lastCPU(t)
	s := soaked(t, cpu)
	s.start()
	for range tries {
		softirqs := softirqsOf(t, cpu)
		r := s.during(t, func() { flood(t, cpu, 40*time.Millisecond) })
		lacks := int64(r.Elapsed) - r.Counts[fmt.Sprintf("cpu%d.idle", cpu)]
		if n := softirqsOf(t, cpu) - softirqs; n > 100 && lacks > int64(r.Elapsed)/2 {
			return
		}
		t.Logf("of %v the loop lacks %v", r.Elapsed, time.Duration(lacks))
	}
	t.Error("packets through loopback were not seen")
}

// softirqsOf is how many NET_RX softirqs a CPU has had.
func softirqsOf(t *testing.T, cpu int) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	column := 1
	for i, name := range strings.Fields(lines[0]) {
		if name == fmt.Sprintf("CPU%d", cpu) {
			column = i + 1
		}
	}
	for _, line := range lines {
		if f := strings.Fields(line); len(f) > column && f[0] == "NET_RX:" {
			var n int64
			if _, err := fmt.Sscan(f[column], &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no NET_RX")
	return 0
}

// flood sends datagrams to a socket of its own for so long.
func flood(t *testing.T, cpu int, d time.Duration) {
	done := make(chan error)
	go func() {
		done <- func() error {
			if err := sys.PinThread(cpu); err != nil {
				return err
			}
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
				return err
			}
			to, err := unix.Getsockname(fd)
			if err != nil {
				return err
			}
			// What doesn't fit into the socket is dropped, which is all the same.
			for began := sys.Nanotime(); sys.Nanotime()-began < int64(d); {
				if err := unix.Sendto(fd, make([]byte, 64), 0, to); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestSoakLeavesNoThreads: with the loops their threads are gone, in whatever
// state the source is closed.
func TestSoakLeavesNoThreads(t *testing.T) {
	labtest.NoLeaks(t)
	for _, working := range []bool{false, true} {
		s := soaked(t, lastCPU(t))
		if working {
			s.start()
			s.start() // which changes nothing
		}
		tid := s.loops[0].tid
		if err := s.close(); err != nil {
			t.Error(err)
		}
		gone := false
		for end := time.Now().Add(5 * time.Second); !gone && time.Now().Before(end); runtime.Gosched() {
			_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
			gone = os.IsNotExist(err)
		}
		if !gone {
			t.Errorf("thread %d is still there", tid)
		}
	}
}

// TestSoakLetsTheRuntimeStop: all goroutines can be stopped while a loop works,
// too, if not at once, in a process like a worker, whose goroutines can't be
// interrupted where they don't allow it.
func TestSoakLetsTheRuntimeStop(t *testing.T) {
	const setting = "asyncpreemptoff=1"
	if os.Getenv("GODEBUG") != setting {
		ctx, cancel := context.WithTimeout(t.Context(), 2*soakPatience)
		defer cancel()
		again := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), "GODEBUG="+setting)
		if said, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	s := soaked(t, lastCPU(t))
	s.start()
	runtime.GC()
	for began := s.loops[0].pieces.Load(); s.loops[0].pieces.Load() == began; {
		time.Sleep(time.Millisecond)
	}
}

func TestSoakIsNotRunTwice(t *testing.T) {
	for want, o := range map[string]*Options{
		"the other end":     {Shared: true, CPUs: []int{0}},
		"is not known":      {},
		"there is no CPU 9": {CPUs: []int{99999}},
	} {
		o.threads = &threads{}
		if s, err := openSoak(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v: want an error with %q", s, err, want)
		}
	}
}
