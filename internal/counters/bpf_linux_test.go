package counters

import (
	"fmt"
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// TestBPFReading: every CPU's time is in the reading, all of it.
func TestBPFReading(t *testing.T) {
	labtest.NoLeaks(t)
	s, err := openBPF(&Options{})
	if err != nil {
		labtest.Skip(t, err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	before, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	// The clock that the samples have is the sampler's.
	for begin := sys.Nanotime(); sys.Nanotime()-begin < 5_000_000; {
	}
	after, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	r, err := reading("bpf", before, after)
	if err != nil {
		t.Fatal(err)
	}
	if r.Elapsed < 5_000_000 {
		t.Errorf("%v passed, want 5 ms", r.Elapsed)
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range cpus {
		var sum int64
		for _, name := range []string{"idle_ns", "task_ns", "irq_ns", "softirq_ns"} {
			sum += r.Counts[fmt.Sprintf("%s@%d", name, cpu)]
		}
		if off := sum - r.Elapsed.Nanoseconds(); off < -100_000 || off > 100_000 {
			t.Errorf("CPU %d: all states together took %d ns of %v", cpu, sum, r.Elapsed)
		}
	}
	if r.Counts["task_ns"] < 1_000_000 {
		t.Errorf("threads ran for %d ns of %v, but this one was at work", r.Counts["task_ns"], r.Elapsed)
	}
}
