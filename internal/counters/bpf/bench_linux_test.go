package bpf

import (
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
)

// BenchmarkRead is what a sample costs.
func BenchmarkRead(b *testing.B) {
	c := counter(b)
	for b.Loop() {
		look(b, c)
	}
}

// BenchmarkPrograms is what the programs take of the machine's CPUs for one
// round trip over veth: how often they run, and for how long in all, as the
// kernel measures it, which takes part of that time itself.
func BenchmarkPrograms(b *testing.B) {
	c := counter(b)
	path := newPath(b)
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		labtest.Skip(b, err)
	}
	defer stats.Close()
	runs, took := c.spent(b)
	b.ResetTimer()
	path.trips(b, b.N)
	b.StopTimer()
	runsEnd, tookEnd := c.spent(b)
	b.ReportMetric((runsEnd-runs)/float64(b.N), "runs/op")
	b.ReportMetric((tookEnd-took)/float64(b.N), "program-ns/op")
	b.ReportMetric((tookEnd-took)/(runsEnd-runs), "ns/run")
}

// spent is how often all programs ran while this was counted, and how long.
func (c *Counter) spent(b *testing.B) (runs, took float64) {
	b.Helper()
	for _, p := range c.coll.Programs {
		s, err := p.Stats()
		if err != nil {
			b.Fatal(err)
		}
		runs += float64(s.RunCount)
		took += float64(s.Runtime.Nanoseconds())
	}
	return runs, took
}
