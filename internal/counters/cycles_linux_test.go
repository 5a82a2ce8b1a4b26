package counters

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// clockEvents are counted by the kernel itself, on any CPU: the nanoseconds
// that pass on it.
var clockEvents = []perfEvent{
	{"clock", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK},
	{"switches", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES},
}

func eventOptions(t *testing.T, root string) *Options {
	t.Helper()
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	return &Options{CPUs: cpus, root: root}
}

// TestEventsOfEachCPU counts what is known beforehand.
func TestEventsOfEachCPU(t *testing.T) {
	labtest.NoLeaks(t)
	o := eventOptions(t, "/")
	s, err := openEvents(o, clockEvents)
	if err != nil {
		labtest.Skip(t, err)
	}
	begin := sys.Nanotime()
	before, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	inner := sys.Nanotime()
	time.Sleep(20 * time.Millisecond)
	innerEnd := sys.Nanotime()
	after, err := s.take()
	end := sys.Nanotime()
	if err := errors.Join(err, s.close()); err != nil {
		t.Fatal(err)
	}
	r, err := reading("events", before, after)
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range o.CPUs {
		// The two clocks may differ by a little.
		got, slack := r.Counts[fmt.Sprintf("clock@%d", cpu)], int64(1_000_000)
		if got < innerEnd-inner-slack || got > end-begin+slack {
			t.Errorf("CPU %d: %d ns passed, want %d to %d", cpu, got, innerEnd-inner, end-begin)
		}
	}
	if r.Counts["switches"] == 0 {
		t.Error("no CPU switched threads, but this one slept")
	}
	if r.Levels["running_ppm"] != 1_000_000 {
		t.Errorf("levels are %v", r.Levels)
	}
}

// TestCycles: this machine's CPUs count, or it says that they can't.
func TestCycles(t *testing.T) {
	s, err := openCycles(eventOptions(t, "/"))
	if err != nil {
		t.Log(err)
		if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "cycles on CPU 0") {
			t.Errorf("error: %v", err)
		}
		return
	}
	before, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.take()
	if err := errors.Join(err, s.close()); err != nil {
		t.Fatal(err)
	}
	if r, err := reading("cycles", before, after); err != nil || r.Counts["cycles"] == 0 || r.Counts["instructions"] == 0 {
		t.Errorf("reading %+v, error %v", r, err)
	}
}

// TestUnknownEvent: what no CPU counts is refused with what is missing.
func TestUnknownEvent(t *testing.T) {
	o := eventOptions(t, "/")
	known, err := openEvents(o, clockEvents)
	if err != nil {
		labtest.Skip(t, err)
	}
	if err := known.close(); err != nil {
		t.Error(err)
	}
	_, err = openEvents(o, []perfEvent{clockEvents[0], {"wonders", unix.PERF_TYPE_SOFTWARE, 1 << 20}})
	if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "count wonders on CPU") {
		t.Errorf("error: %v", err)
	}
}

// TestEventsWithoutPrivilege opens as a thread without any capability.
func TestEventsWithoutPrivilege(t *testing.T) {
	o := eventOptions(t, write(t, map[string]string{"proc/sys/kernel/perf_event_paranoid": "3\n"}))
	err := labtest.WithoutCapabilities(func() error {
		s, err := openEvents(o, clockEvents)
		if err == nil {
			err = s.close()
		}
		return err
	})
	if err == nil {
		labtest.Skip(t, errors.New("this system lets everybody count events (kernel.perf_event_paranoid)"))
	}
	if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "which is 3;") || !strings.Contains(err.Error(), "CAP_PERFMON") {
		t.Errorf("error: %v", err)
	}
}
