package worker

import (
	"errors"
	"io/fs"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// classes counts a process's threads under SCHED_FIFO, by their priority.
func classes(t *testing.T, pid int) map[uint32]int {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint32]int{}
	for _, task := range tasks {
		tid, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			t.Fatal(err)
		}
		attr, err := unix.SchedGetAttr(tid, 0)
		if err == nil && attr.Policy == unix.SCHED_FIFO {
			found[attr.Priority]++
		}
	}
	return found
}

// The thread that carries the traffic is under SCHED_FIFO, and no other is.
func TestFIFO(t *testing.T) {
	labtest.NoLeaks(t)
	cfg := loopbackConfig("udp_rr", result.Remote, window)
	cfg.Test.Params.FIFO = 4
	w := newWorker(t, nil)
	switch _, err := w.Prepare(t.Context(), cfg); {
	case errors.Is(err, fs.ErrPermission):
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindPermission || !strings.Contains(err.Error(), "CAP_SYS_NICE") {
			t.Errorf("error %v", err)
		}
		labtest.Skip(t, err)
	case err != nil:
		t.Fatal(err)
	}
	if got := classes(t, w.PID()); len(got) != 1 || got[4] != 1 {
		t.Errorf("threads by priority: %v", got)
	}
}

// A test of this host alone needs no peer, and has its threads where it is told.
func TestWakeAlone(t *testing.T) {
	labtest.NoLeaks(t)
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cfg := loopbackConfig("wake", result.Local, window)
	cfg.CPU, cfg.CPUs = cpus[0], []int{cpus[len(cpus)-1]}
	w, at := ready(t, nil, cfg)
	if at.Port() != 0 {
		t.Errorf("port %d of a test that has none", at.Port())
	}
	if err := w.Arm(t.Context(), netip.AddrPortFrom(loopback, 0)); err != nil {
		t.Fatal(err)
	}
	end, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if end.Messages == 0 || end.RTT.Count() != end.Messages || end.Counts[traffic.CountSent] != end.Messages {
		t.Errorf("%+v", end)
	}
}

// Any thread's CPU may be one that is not there: the error names those that are.
func TestNoSuchCPU(t *testing.T) {
	labtest.NoLeaks(t)
	const want = "it may use CPUs "
	cfg := loopbackConfig("wake", result.Local, window)
	cfg.CPU = 1 << 20
	w := newWorker(t, nil)
	if _, err := w.Prepare(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the first thread: error %v", err)
	}
	cfg.CPU, cfg.CPUs = sys.NoCPU, []int{1000}
	w = newWorker(t, nil)
	if _, err := w.Prepare(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "thread 1") {
		t.Errorf("the second thread: error %v", err)
	}
}
