package result

import (
	"fmt"
	"slices"
)

// atWorkFrom is the share of the window from which on a CPU was at work.
const atWorkFrom = 0.5

// atWork are those of the end's CPUs on which its traffic threads were, or that
// were busy for most of the window.
func (c *Counters) atWork() []int {
	busy, _ := c.busyCPUs(c.Readings)
	threads := c.Reading(SourceThreads)
	return slices.DeleteFunc(slices.Clone(c.cpus()), func(cpu int) bool {
		if busy[cpu] >= atWorkFrom {
			return false
		}
		if threads != nil {
			for _, n := range trafficThreads(threads) {
				if at, there := threads.Levels[fmt.Sprintf("traffic%d.cpu", n)]; there && at == int64(cpu) {
					return false
				}
			}
		}
		return true
	})
}

// busyCPUs is the share of its time that each of the end's CPUs was in use, by
// the best source of some readings of one span. A CPU of which nothing is known
// is left out. step is the least share that the source can tell, 0 for one that
// is exact.
func (c *Counters) busyCPUs(readings []Reading) (busy map[int]float64, step float64) {
	soaked, _ := c.Asked(SourceSoak)
	ticks := usable(readings, SourceCPU)
	busy = map[int]float64{}
	for _, cpu := range c.cpus() {
		if ticks != nil && !tells(ticks, fmt.Sprintf("cpu%d.", cpu)) {
			continue // it is offline
		}
		if of, ok := loadOf(readings, []int{cpu}, soaked); ok {
			busy[cpu], step = min(of.busy, 1), of.resolution
		}
	}
	return busy, step
}

// inInterrupts is the share of its time that a CPU spent in interrupts and
// softirqs.
func (c *Counters) inInterrupts(cpu int) float64 {
	if r := usable(c.Readings, SourceBPF); r != nil && tells(r, "softirq_ns@") {
		return r.part(r.rose(fmt.Sprintf("softirq_ns@%d", cpu)) + r.rose(fmt.Sprintf("irq_ns@%d", cpu)))
	}
	return usable(c.Readings, SourceCPU).kinds([]int{cpu}, "irq", "softirq")
}
