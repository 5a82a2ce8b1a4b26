package counters

import (
	"fmt"
	"math"
)

// perfEvent is a thing that CPUs count, as perf_event_open(2) knows it: kind is
// its type there.
type perfEvent struct {
	name   string
	kind   uint32
	config uint64
}

// Kinds of events and the events that are counted (linux/perf_event.h).
const (
	perfHardware = 0

	perfCycles       = 0
	perfInstructions = 1
)

var cycleEvents = []perfEvent{
	{"cycles", perfHardware, perfCycles},
	{"instructions", perfHardware, perfInstructions},
}

// openCycles opens a counter of each event on each of the options' CPUs, for
// whatever runs there. Counts are "cycles", "instructions" and "cycles@N",
// "instructions@N" for each CPU. Level "running_ppm" is the share of the time
// since the last sample in which the CPU did count, the least of all CPUs: below
// 1,000,000 others want its counters too, and counts are scaled up by it.
func openCycles(o *Options) (source, error) { return openEvents(o, cycleEvents) }

// eventCount is what the counters of a CPU hold: how long they were wanted and
// how long they ran, in nanoseconds, and the count of each event.
type eventCount struct {
	enabled, running uint64
	values           []uint64
}

// eventTotal is what a CPU has counted until the last sample. Each period is
// scaled by its own share, so that what happened while the counters were others'
// is not spread over all the time.
type eventTotal struct {
	last   eventCount
	totals []int64
}

// allTime is the share of a CPU whose counters ran all the time.
const allTime = 1_000_000

// add adds what was counted since the last time, and returns the share of the
// period in which the counters ran, in millionths.
func (t *eventTotal) add(now eventCount) (ppm int64, err error) {
	enabled, running := now.enabled-t.last.enabled, now.running-t.last.running
	if running == 0 && enabled > 0 {
		return 0, fmt.Errorf("the counters were others' for all of %d ns", enabled)
	}
	if t.totals == nil {
		t.totals = make([]int64, len(now.values))
	}
	ppm = allTime
	scale := 1.0
	if running < enabled {
		scale = float64(enabled) / float64(running)
		ppm = int64(allTime / scale)
	}
	for i, v := range now.values {
		if i < len(t.last.values) {
			v -= t.last.values[i]
		}
		if scale == 1 {
			t.totals[i] += int64(v)
		} else {
			t.totals[i] += int64(math.Round(float64(v) * scale))
		}
	}
	t.last = now
	return ppm, nil
}

// nameEvents adds a CPU's totals to a sample.
func nameEvents(s *sample, events []perfEvent, cpu int, t *eventTotal, ppm int64) {
	for i, e := range events {
		s.counts[e.name] += t.totals[i]
		s.counts[fmt.Sprintf("%s@%d", e.name, cpu)] = t.totals[i]
	}
	if least, there := s.levels["running_ppm"]; !there || ppm < least {
		s.levels["running_ppm"] = ppm
	}
}
