package result

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// read is a reading of a second.
func read(source string, counts map[string]int64) Reading {
	return Reading{Source: source, Elapsed: time.Second, Counts: counts}
}

// ticked is a reading of /proc/stat.
func ticked(counts map[string]int64) Reading {
	r := read(SourceCPU, counts)
	r.Levels = map[string]int64{"resolution_ns": 10e6}
	return r
}

const ms = int64(time.Millisecond)

func TestCPUOf(t *testing.T) {
	type c = map[string]int64
	for _, x := range []struct {
		name       string
		counters   *Counters
		want       float64
		source     string
		resolution float64
		why        string
	}{
		{name: "no counters", why: NotAsked},
		{name: "asked and not had", counters: &Counters{Missing: []Fact{{Name: SourceCPU, Value: "no /proc"}}}, why: NotCounted},
		{name: "none of the sources of CPU time", counters: &Counters{Readings: []Reading{read(SourceSoftirqs, nil)}}, why: NotAsked},
		{name: "ticks of all kinds", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{ticked(c{
			"cpu0.user": 100 * ms, "cpu0.nice": 10 * ms, "cpu0.system": 200 * ms, "cpu0.irq": 20 * ms, "cpu0.softirq": 30 * ms,
			"cpu0.idle": 600 * ms, "cpu0.iowait": 40 * ms, "cpu1.steal": 500 * ms, "cpu1.user": 40 * ms, "cpu2.user": 900 * ms})}},
			want: 0.4, source: SourceCPU, resolution: 0.01},
		{name: "less the baseline", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{ticked(c{"cpu0.user": 400 * ms})},
			Baseline: []Reading{{Source: SourceCPU, Elapsed: time.Second / 4, Counts: c{"cpu0.user": 10 * ms, "cpu1.system": 15 * ms}}}},
			want: 0.3, source: SourceCPU, resolution: 0.01},
		{name: "never below zero", counters: &Counters{CPUs: []int{0}, Readings: []Reading{ticked(c{"cpu0.user": 10 * ms})},
			Baseline: []Reading{read(SourceCPU, c{"cpu0.user": 20 * ms})}},
			want: 0, source: SourceCPU, resolution: 0.01},
		{name: "half busy before", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{ticked(c{"cpu0.user": 1000 * ms, "cpu1.user": 1000 * ms})},
			Baseline: []Reading{read(SourceCPU, c{"cpu0.user": 1000 * ms, "cpu2.user": 1000 * ms})}}, want: 1, source: SourceCPU, resolution: 0.01},
		{name: "so busy before that it had to give way", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{ticked(c{"cpu0.user": 1000 * ms, "cpu1.user": 1000 * ms})},
			Baseline: []Reading{read(SourceCPU, c{"cpu0.user": 1000 * ms, "cpu1.user": 10 * ms})}}, why: "busy-baseline"},
		{name: "exact idle time before ticks", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{
			ticked(c{"cpu0.user": 10 * ms, "cpu1.idle": 990 * ms}), read(SourceIdle, c{"cpu0.idle": 250 * ms, "cpu1.idle": 1000 * ms})}},
			want: 0.75, source: SourceIdle},
		{name: "a CPU that was never idle", counters: &Counters{CPUs: []int{0}, Readings: []Reading{read(SourceIdle, c{"cpu1.idle": 250 * ms})}},
			want: 1, source: SourceIdle},
		{name: "stolen time is no work, and waiting for a disk is idle time already", counters: &Counters{CPUs: []int{0}, Readings: []Reading{
			ticked(c{"cpu0.steal": 100 * ms, "cpu0.iowait": 150 * ms}), read(SourceIdle, c{"cpu0.idle": 500 * ms})}},
			want: 0.4, source: SourceIdle},
		{name: "a CPU that went offline", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{
			ticked(c{"cpu0.user": 300 * ms, "cpu0.idle": 690 * ms}), read(SourceIdle, c{"cpu0.idle": 690 * ms})}},
			want: 0.31, source: SourceIdle},
		{name: "idle for longer than it was read", counters: &Counters{CPUs: []int{0, 1}, Readings: []Reading{
			read(SourceIdle, c{"cpu0.idle": 1500 * ms, "cpu1.idle": 500 * ms})}}, want: 0.5, source: SourceIdle},
		{name: "programs in the kernel before all", counters: &Counters{CPUs: []int{1}, Readings: []Reading{
			ticked(c{"cpu1.idle": 990 * ms}), read(SourceIdle, c{"cpu1.idle": 999 * ms}), read(SourceBPF, c{"idle_ns@1": 400 * ms})}},
			want: 0.6, source: SourceBPF},
		{name: "programs that know nothing of idle time", counters: &Counters{CPUs: []int{1}, Readings: []Reading{
			read(SourceIdle, c{"cpu1.idle": 900 * ms}), read(SourceBPF, c{"wakeups": 4})}}, want: 0.1, source: SourceIdle},
		{name: "baseline by the source that is there", counters: &Counters{CPUs: []int{0}, Readings: []Reading{read(SourceBPF, c{"idle_ns@0": 400 * ms})},
			Baseline: []Reading{read(SourceIdle, c{"cpu0.idle": 900 * ms})}}, want: 0.5, source: SourceBPF},
		{name: "beside an idle loop", counters: &Counters{CPUs: []int{0}, Readings: []Reading{
			ticked(c{"cpu0.user": 100 * ms, "cpu0.nice": 700 * ms, "cpu0.system": 200 * ms}), read(SourceIdle, nil), read(SourceSoak, c{"cpu0.idle": 650 * ms})}},
			want: 0.3, source: SourceCPU, resolution: 0.01},
		{name: "no word of which CPUs", counters: &Counters{Readings: []Reading{ticked(c{"cpu0.user": 100 * ms, "cpu11.user": 100 * ms, "cpux.user": 1})}},
			want: 0.2, source: SourceCPU, resolution: 0.01},
		{name: "no CPU at all", counters: &Counters{Readings: []Reading{ticked(nil)}}, why: NotCounted},
		{name: "read for no time", counters: &Counters{CPUs: []int{0}, Readings: []Reading{{Source: SourceCPU}}}, why: "no-window"},
		{name: "CPUs that are shared", counters: &Counters{CPUs: []int{0}, OneMachine: true, Shared: true, Readings: []Reading{ticked(nil)}}, why: "one-machine"},
	} {
		e := &End{Role: Remote, Counters: x.counters}
		got, source, resolution, why := (&Trial{Remote: e}).cpuOf(e)
		switch {
		case (why == nil) != (x.why == "") || why != nil && why.Code != x.why:
			t.Errorf("%s: reason %+v, want %q", x.name, why, x.why)
		case math.Abs(got-x.want) > 1e-9 || source != x.source || resolution != x.resolution:
			t.Errorf("%s: %v s/s from %q (to %v), want %v from %q (to %v)", x.name, got, source, resolution, x.want, x.source, x.resolution)
		}
	}
}

func TestSoaked(t *testing.T) {
	loop := func(cpus []int, counts map[string]int64) *End {
		return &End{Role: Local, Counters: &Counters{CPUs: cpus, Readings: []Reading{read(SourceSoak, counts)},
			Baseline: []Reading{read(SourceCPU, map[string]int64{"cpu0.user": 50 * ms, "cpu1.user": 500 * ms})}}}
	}
	for _, x := range []struct {
		name string
		end  *End
		want float64
		why  string
	}{
		{"what the loops lacked beyond the baseline", loop([]int{0, 2}, map[string]int64{"cpu0.idle": 750 * ms, "cpu2.idle": 100 * ms, "cpu1.idle": 5}), 1.1, ""},
		{"a loop that was faster than calibrated", loop([]int{0}, map[string]int64{"cpu0.idle": 1004 * ms}), 0, ""},
		{"a loop that got nothing", loop([]int{0}, nil), 0.95, ""},
		{"a machine that was busy", loop([]int{1}, map[string]int64{"cpu1.idle": 900 * ms}), 0, ""},
		{"a machine that was too busy", &End{Role: Local, Counters: &Counters{CPUs: []int{0}, Readings: []Reading{read(SourceSoak, nil)},
			Baseline: []Reading{read(SourceCPU, map[string]int64{"cpu0.user": 510 * ms})}}}, 0, "busy-baseline"},
		{"loops of unknown CPUs", &End{Role: Local, Counters: &Counters{Readings: []Reading{read(SourceSoak, nil)}}}, 0, NotCounted},
		{"no loop", &End{Role: Local, Counters: &Counters{}}, 0, NotAsked},
	} {
		got, why := soaked(localEnd)(&Trial{Local: *x.end})
		if math.Abs(got-x.want) > 1e-9 || (why == nil) != (x.why == "") || why != nil && why.Code != x.why {
			t.Errorf("%s: %v, %+v; want %v, %q", x.name, got, why, x.want, x.why)
		}
	}
}

// Whatever the sources say, a figure of CPU time is one, and of no more CPUs than
// there are.
func TestCPUIsNeverMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCounters(t)
		e := &End{Role: Local, Counters: c}
		busy, source, resolution, why := (&Trial{Local: *e}).cpuOf(e)
		if why != nil {
			return
		}
		if math.IsNaN(busy) || busy < 0 || math.IsInf(busy, 0) || resolution < 0 {
			t.Fatalf("%v s/s from %s to %v", busy, source, resolution)
		}
		if source != SourceCPU && busy > float64(len(c.cpus())) {
			t.Fatalf("%v s/s of %d CPUs", busy, len(c.cpus()))
		}
	})
}
