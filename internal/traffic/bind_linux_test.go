package traffic

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// A traffic thread, whichever, has its CPU and its priority.
func TestBindThread(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Test: spec.Test{Name: "udp_rr", Params: spec.Params{FIFO: 3}}, CPU: cpus[0], CPUs: []int{cpus[len(cpus)-1]}}
	seen := make([]*unix.SchedAttr, 3)
	places := make([][]int, 3)
	done := make(chan error, 1)
	go func() { // the threads end with their goroutines
		err := BindThread(&cfg, 0)
		if err == nil {
			err = crew(&cfg, len(seen), func(i int) (err error) {
				if seen[i], err = unix.SchedGetAttr(0, 0); err == nil {
					places[i], err = sys.OnlineCPUs()
				}
				return err
			}, func() {})
		}
		done <- err
	}()
	if err := <-done; errors.Is(err, fs.ErrPermission) {
		labtest.Skip(t, err)
	} else if err != nil {
		t.Fatal(err)
	}
	for i, attr := range seen {
		if attr.Policy != unix.SCHED_FIFO || attr.Priority != 3 {
			t.Errorf("thread %d has policy %d, priority %d", i, attr.Policy, attr.Priority)
		}
		if want := cfg.ThreadCPU(i); len(places[i]) != 1 || places[i][0] != want {
			t.Errorf("thread %d is on CPUs %v, want %d", i, places[i], want)
		}
	}
}

func TestBindThreadToNoCPU(t *testing.T) {
	for i, cfg := range []Config{{CPU: 1 << 20}, {CPU: sys.NoCPU, CPUs: []int{1000}}} {
		done := make(chan error, 1)
		go func() { done <- BindThread(&cfg, i) }()
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "it may use CPUs ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("thread %d: error %v", i, err)
		}
	}
}
