package worker

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// tries is how often a test looks again on a busy machine.
const tries = 3

// idlers counts a process's threads of the class SCHED_IDLE.
func idlers(t *testing.T, pid int) (n int) {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			t.Fatal(err)
		}
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_IDLE {
			n++
		}
	}
	return n
}

// soakedTrial runs a test on loopback with idle-priority loops on the CPUs that
// it is given for each end; none stands for all.
func soakedTrial(t *testing.T, test spec.Test, local, remote []int) (ends [2]*result.End) {
	t.Helper()
	configure := func(role string, scope []int) traffic.Config {
		cfg := loopbackConfig(test.Name, role, 100*time.Millisecond)
		cfg.Test, cfg.Soak, cfg.OneMachine, cfg.CPUScope = test, true, true, scope
		return cfg
	}
	var at [2]netip.AddrPort
	var w [2]*Worker
	for i, cfg := range []traffic.Config{configure(result.Local, local), configure(result.Remote, remote)} {
		w[i], at[i] = ready(t, nil, cfg)
		want := len(cfg.CPUScope)
		if want == 0 && i == 0 {
			cpus, err := sys.OnlineCPUs()
			if err != nil {
				t.Fatal(err)
			}
			want = len(cpus)
		}
		if n := idlers(t, w[i].PID()); n > want {
			t.Errorf("%s end: %d threads of idle priority, want %d", cfg.Role, n, want)
		}
	}
	if err := w[1].Arm(t.Context(), at[0]); err != nil {
		t.Fatal(err)
	}
	if err := w[0].Arm(t.Context(), at[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := w[1].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if ends[0], err = w[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ends[1], err = w[1].Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range w {
		// The loops end with their trial, not only with the worker. On a busy CPU
		// it takes them a while.
		n := 1
		for end := time.Now().Add(10 * time.Second); n > 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			n = idlers(t, w[i].PID())
		}
		if n != 0 {
			t.Errorf("%d threads of idle priority are left", n)
		}
	}
	return ends
}

// missing is why there is no reading of a source, and whether that is since
// something else was busy on the machine meanwhile.
func missing(e *result.End, source string) (why string, busy bool) {
	_, why = e.Counters.Asked(source)
	return why, strings.Contains(why, "busy") || strings.Contains(why, "window")
}

// TestSoak: with loops on all CPUs, of which none ever waits, a trial goes
// through, has what they got, and leaves them out of its own CPU time.
func TestSoak(t *testing.T) {
	labtest.NoLeaks(t)
	for try := 1; ; try++ {
		ends := soakedTrial(t, spec.Test{Name: "udp_rr"}, nil, nil)
		local, remote := ends[0], ends[1]
		if why, _ := missing(remote, result.SourceSoak); !strings.Contains(why, "the other end") {
			t.Errorf("an end that shares all CPUs has loops of its own: %q", why)
		}
		r := local.Counters.Reading(result.SourceSoak)
		if r == nil {
			why, busy := missing(local, result.SourceSoak)
			if !busy {
				t.Fatal(why)
			}
			if try == tries {
				t.Logf("the machine is too busy, and the trial went through without: %s", why)
				return
			}
			continue
		}
		for _, cpu := range local.Counters.CPUs {
			// Whole ones, too: the test may have been on the other.
			if idle := r.Counts[fmt.Sprintf("cpu%d.idle", cpu)]; idle > int64(r.Elapsed) {
				t.Errorf("CPU %d: %d ns of %v", cpu, idle, r.Elapsed)
			}
		}
		if r.Levels["calibration_rate"] <= 0 || r.Elapsed <= 0 {
			t.Errorf("%+v around a window of %v", r, local.Elapsed)
		}
		own := local.Counts[traffic.CountCPUUser] + local.Counts[traffic.CountCPUSystem]
		if own <= int64(local.Elapsed)*12/10 {
			break
		}
		if try == tries {
			t.Fatalf("an end with one thread took %v in %v", time.Duration(own), local.Elapsed)
		}
	}
}

// TestSoakOnOwnCPUs: ends on CPUs of their own have loops there, beside several
// traffic threads each.
func TestSoakOnOwnCPUs(t *testing.T) {
	labtest.NoLeaks(t)
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		labtest.Skip(t, fmt.Errorf("there is one CPU, and two ends"))
	}
	for try := 1; ; try++ {
		test := spec.Test{Name: "tcp_stream", Params: spec.Params{Flows: 2, Threads: 2}}
		ends := soakedTrial(t, test, cpus[:1], cpus[1:2])
		lacks := false
		for i, e := range ends {
			r := e.Counters.Reading(result.SourceSoak)
			if r == nil {
				why, busy := missing(e, result.SourceSoak)
				if lacks = true; !busy {
					t.Fatal(why)
				}
				if try == tries {
					t.Logf("the machine is too busy, and the trial went through without: %s", why)
					return
				}
				continue
			}
			if _, ok := r.Levels[fmt.Sprintf("cpu%d.calibration_rate", cpus[i])]; !ok {
				t.Errorf("%s end: levels %v", e.Role, r.Levels)
			}
		}
		if !lacks {
			return
		}
	}
}

// TestSoakEndsWithItsWorker: a worker whose trial never comes to its end takes
// the loops with it.
func TestSoakEndsWithItsWorker(t *testing.T) {
	cfg := loopbackConfig("udp_rr", result.Remote, time.Minute)
	cfg.Soak = true
	w, _ := ready(t, nil, cfg)
	if err := w.Arm(t.Context(), netip.MustParseAddrPort("127.0.0.1:9")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := w.PID()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); !os.IsNotExist(err) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}
