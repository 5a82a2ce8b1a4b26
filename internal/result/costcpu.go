package result

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// load is how much of some CPUs was in use: seconds of CPU time per second.
type load struct {
	busy   float64
	source string
	// resolution is the least difference that the source knows, in the same
	// unit; 0 for one that is exact.
	resolution float64
}

// cpuOf is the CPU time per second that an end's host took beyond its baseline,
// never below 0, over Counters.CPUs; with the source that it is from and the
// least difference that the source can tell in such a window, in the same unit
// (0 where it is exact). Without a baseline nothing is taken off.
func (t *Trial) cpuOf(e *End) (busy float64, source string, resolution float64, why *Warning) {
	if why := e.alone(SourceCPU, SourceIdle, SourceBPF); why != nil {
		return 0, "", 0, why
	}
	c := e.Counters
	// While a loop of idle priority runs no CPU is idle.
	soaked, _ := c.Asked(SourceSoak)
	cpus := c.cpus()
	now, ok := loadOf(c.Readings, cpus, soaked)
	if !ok {
		_, why := e.reading(SourceCPU)
		if why == nil {
			why = &Warning{Code: NotCounted, Text: fmt.Sprintf("the %s end does not say of which CPUs its figures are", e.Role)}
		}
		return 0, "", 0, why
	}
	rest, why := e.atRest(cpus)
	if why != nil {
		return 0, "", 0, why
	}
	return max(0, now.busy-rest), now.source, now.resolution, nil
}

// mostAtRest is the share of their time for which CPUs can have been busy before
// a test. What fills them has to make room for the test, so that what they did
// before is no part of what they do now, and the test's part can't be told.
const mostAtRest = 0.5

// atRest is what the CPUs did before the test, in seconds per second: no idle
// loop ran then. It is 0 if nobody looked. If they were too busy for that to be
// taken off, it says so: whatever the figure would be, so that which trials have
// one does not depend on it.
func (e *End) atRest(cpus []int) (float64, *Warning) {
	rest, _ := loadOf(e.Counters.Baseline, cpus, false)
	if part := rest.busy / float64(max(len(cpus), 1)); part > mostAtRest {
		return 0, &Warning{Code: "busy-baseline", Advice: "stop what else runs on the machine (top)",
			Text: fmt.Sprintf("the %s end's CPUs were busy for %s of the time before the test began, so that the test's part can't be told", e.Role, inPercent(part))}
	}
	return rest.busy, nil
}

// alone says why an end can have no figure of CPU time from any of some sources:
// it has none of them, the first or else one that could not be read, or it shares
// the CPUs with the other end.
func (e *End) alone(sources ...string) *Warning {
	var first *Warning
	for _, s := range sources {
		_, why := e.reading(s)
		switch {
		case why == nil && e.Counters.Shared:
			return e.shared()
		case why == nil:
			return nil
		case first == nil || first.Code == NotAsked && why.Code != NotAsked:
			first = why
		}
	}
	return first
}

// loopsBeside says why a test that keeps CPUs busy by loops of its own has no figure
// of CPU time: theirs is in it, as much as there was to have.
func (t *Trial) loopsBeside() *Warning {
	busy := t.Test.Params.Busy
	if busy == "" {
		return nil
	}
	return &Warning{Code: "loops-beside", Text: fmt.Sprintf("the test keeps its CPUs busy by loops of its own (busy=%s), whose time is in all that is counted", busy),
		Advice: "leave out busy for CPU figures"}
}

// cpu is the figure of cpuOf.
func cpu(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		busy, _, _, why := t.cpuOf(end(t))
		if why == nil {
			why = t.loopsBeside()
		}
		return busy, why
	}
}

// soaked is the CPU time per second that an idle loop on each of the end's CPUs
// lacked, beyond the baseline: what the machine does by itself takes time from
// the loop too, and its calibration is by the time that it had, so that it has
// none of that.
func soaked(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		e := end(t)
		if why := e.alone(SourceSoak); why != nil {
			return 0, why
		}
		if why := t.loopsBeside(); why != nil {
			return 0, why
		}
		cpus := e.Counters.cpus()
		if len(cpus) == 0 {
			return 0, &Warning{Code: NotCounted, Text: fmt.Sprintf("the %s end does not say on which CPUs its idle loop ran", e.Role)}
		}
		rest, why := e.atRest(cpus)
		if why != nil {
			return 0, why
		}
		return max(0, busyBeside(e.Counters.Reading(SourceSoak), cpus, idleOfCPU, 0)-rest), nil
	}
}

// Kinds of CPU time in SourceCPU that are work. Idle time and that spent waiting
// for a disk is none, and what the hypervisor took is somebody else's.
var workKinds = []string{"user", "nice", "system", "irq", "softirq"}

// Names of what is counted for a CPU.
func idleOfCPU(cpu int) string      { return fmt.Sprintf("cpu%d.idle", cpu) }
func exactIdleOfCPU(cpu int) string { return fmt.Sprintf("idle_ns@%d", cpu) }

// loadOf is the load by the best of the readings: exact idle time, else ticks.
// Beside an idle loop it is ticks, without those of the loop, which is nice.
func loadOf(readings []Reading, cpus []int, soaked bool) (load, bool) {
	if len(cpus) == 0 {
		return load{}, false
	}
	ticks := usable(readings, SourceCPU)
	if !soaked {
		if r := usable(readings, SourceBPF); r != nil && tells(r, "idle_ns@") {
			return load{busyBeside(r, ticks.online(cpus), exactIdleOfCPU, ticks.kinds(cpus, "steal")), SourceBPF, 0}, true
		}
		if r := usable(readings, SourceIdle); r != nil {
			return load{busyBeside(r, ticks.online(cpus), idleOfCPU, ticks.kinds(cpus, "steal")), SourceIdle, 0}, true
		}
	}
	if ticks == nil {
		return load{}, false
	}
	kinds := workKinds
	if soaked {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == "nice" })
	}
	return load{ticks.kinds(cpus, kinds...), SourceCPU, max(0, float64(ticks.Levels["resolution_ns"])) / float64(ticks.Elapsed)}, true
}

// wellTicked is a time in which every CPU has ticks of some kind.
const wellTicked = 50 * time.Millisecond

// online is those of the CPUs that ticks were counted of, as far as they tell:
// one that went offline meanwhile was not idle, and did nothing all the same.
func (r *Reading) online(cpus []int) []int {
	if r == nil || r.Elapsed < wellTicked {
		return cpus
	}
	return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return !tells(r, fmt.Sprintf("cpu%d.", cpu)) })
}

// usable is a reading that took some time.
func usable(readings []Reading, source string) *Reading {
	r := readingOf(readings, source)
	if r == nil || r.Elapsed <= 0 {
		return nil
	}
	return r
}

// tells says whether anything that the reading counted begins with that.
func tells(r *Reading, prefix string) bool {
	for name := range r.Counts {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// busyBeside is what some CPUs did when they were not idle, in seconds per
// second, less what was neither.
func busyBeside(r *Reading, cpus []int, idle func(int) string, neither float64) float64 {
	sum := 0.0
	for _, cpu := range cpus {
		sum += 1 - min(1, seconds(r, idle(cpu)))
	}
	return max(0, sum-neither)
}

// kinds is the time of some kinds that some CPUs took, in seconds per second; 0
// of no reading.
func (r *Reading) kinds(cpus []int, kinds ...string) float64 {
	sum := 0.0
	if r == nil {
		return 0
	}
	for _, cpu := range cpus {
		for _, kind := range kinds {
			sum += seconds(r, fmt.Sprintf("cpu%d.%s", cpu, kind))
		}
	}
	return sum
}

// seconds is a count of nanoseconds as seconds per second.
func seconds(r *Reading, name string) float64 {
	return float64(r.Counts[name]) / float64(r.Elapsed)
}

// cpus are the CPUs that the figures are of: where the end does not say, all
// that it told the time of.
func (c *Counters) cpus() []int {
	if len(c.CPUs) > 0 {
		return c.CPUs
	}
	found := map[int]bool{}
	for _, r := range slices.Concat(c.Readings, c.Baseline) {
		for name := range r.Counts {
			number, _, ok := strings.Cut(strings.TrimPrefix(name, "cpu"), ".")
			if cpu, err := strconv.Atoi(number); ok && err == nil && cpu >= 0 && strings.HasPrefix(name, "cpu") {
				found[cpu] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
