package result

import (
	"fmt"
	"maps"
	"slices"
)

// fullCPU is a CPU that had no time left: how busy it was, how much of its time
// went to interrupts, and how much to neither those nor traffic threads.
type fullCPU struct{ busy, interrupts, others float64 }

// fullCPUs are the end's CPUs that had no time left. There are none on one
// machine: there all CPUs are the test's. Where the kernel charges interrupts to
// the thread that they interrupt, they are in that thread's time as well, so that
// others is rather too small than too large.
func fullCPUs(t *Trial, e *End) []fullCPU {
	c := e.Counters
	if c == nil || t.onOneMachine() {
		return nil
	}
	traffic := map[int64]float64{}
	if r := c.Reading(SourceThreads); r != nil {
		for _, n := range trafficThreads(r) {
			if at, there := r.Levels[fmt.Sprintf("traffic%d.cpu", n)]; there {
				traffic[at] += r.part(r.rose(fmt.Sprintf("traffic%d.run_ns", n)))
			}
		}
	}
	var all []fullCPU
	shares, _ := c.busyCPUs(c.Readings)
	for _, cpu := range slices.Sorted(maps.Keys(shares)) {
		if busy := shares[cpu]; busy >= saturatedFrom {
			interrupts := c.inInterrupts(cpu)
			all = append(all, fullCPU{busy, interrupts, max(0, busy-interrupts-traffic[int64(cpu)])})
		}
	}
	return all
}

func saturatedByInterrupts(t *Trial, e *End) *finding {
	var worst fullCPU
	for _, c := range fullCPUs(t, e) {
		if c.interrupts >= max(interruptsFrom, worst.interrupts) {
			worst = c
		}
	}
	if worst.busy == 0 {
		return nil
	}
	return found("a CPU was busy for %s of the window, and for %s of it with interrupts and softirqs", inPercent(worst.busy), inPercent(worst.interrupts))
}

func saturatedByOthers(t *Trial, e *End) *finding {
	var worst fullCPU
	if t.sharesCPUs() {
		return nil
	}
	for _, c := range fullCPUs(t, e) {
		if c.interrupts < interruptsFrom && c.others >= max(unexplainedFrom, worst.others) {
			worst = c
		}
	}
	if worst.busy == 0 {
		return nil
	}
	return found("a CPU was busy for %s of the window, and for %s of it with other things than interrupts and the test's threads", inPercent(worst.busy), inPercent(worst.others))
}
