package result

import (
	"fmt"
	"math"
	"time"

	"netdelta/internal/unit"
)

// Codes of warnings about what loops of idle priority saw of a test's cost.
const (
	soakDisagrees    = "soak-disagrees"
	soakUncalibrated = "soak-uncalibrated"
	soakGrouped      = "soak-grouped"
)

const (
	// soakMargin and soakShare are how far the CPU by accounting and by soak may
	// be apart: so many CPUs, or that part of the greater of the two. A
	// calibration is good to a few per cent where nothing is wrong.
	soakMargin = 0.05
	soakShare  = 0.10
	// soakErrors is how many standard errors of the accounting are given it
	// beyond that. They are reckoned for a tick as long as the unit in which the
	// kernel tells its times, 10 ms; most kernels tick more often.
	soakErrors = 2
	// soakSpread is the widest that a calibration may spread. Undisturbed, one is
	// of some tenths of a per cent.
	soakSpread = 20_000 // millionths
	// soakGot is how much of the calibration's time the loop must have had.
	soakGot = 900_000 // millionths
	// stealShare is the part of the difference from which on steal explains it.
	stealShare = 0.5
)

// accountedKinds are the kinds of time of SourceCPU that a test and all beside it
// take while loops of idle priority run. The loops' own time is "nice".
var accountedKinds = []string{"user", "system", "irq", "softirq"}

// accountedBusy is the CPU time per second that the end's CPUs took by the
// kernel's accounting, without idle-priority loops, and how wide one standard
// error of that is: the kernel asks at each tick what runs. It says false where
// that was not read.
func accountedBusy(c *Counters) (busy, sigma float64, ok bool) {
	r := c.Reading(SourceCPU)
	if r == nil || r.Elapsed <= 0 || len(c.CPUs) == 0 {
		return 0, 0, false
	}
	whole := r.Elapsed.Seconds()
	tick := time.Duration(r.Levels["resolution_ns"]).Seconds()
	variance := 0.0
	for _, cpu := range c.CPUs {
		part := 0.0
		for _, kind := range accountedKinds {
			part += time.Duration(r.Counts[cpuCount(cpu, kind)]).Seconds()
			// Each kind is rounded down at both ends.
			variance += tick * tick / 6
		}
		busy += part / whole
		p := min(part/whole, 1)
		variance += p * (1 - p) * tick * whole
	}
	return busy, math.Sqrt(variance) / whole, true
}

// soakBusy is the CPU time per second that the loops of idle priority on the
// end's CPUs lacked, and that which passed on their threads' clocks without
// that they got anywhere: interrupts, or a CPU that had become slower. It says
// false where they did not run on all of them.
func soakBusy(c *Counters) (busy, held float64, ok bool) {
	r := c.Reading(SourceSoak)
	if r == nil || r.Elapsed <= 0 || len(c.CPUs) == 0 {
		return 0, 0, false
	}
	whole := float64(r.Elapsed)
	for _, cpu := range c.CPUs {
		if _, ran := r.Levels[cpuCount(cpu, "calibration_rate")]; !ran {
			return 0, 0, false
		}
		idle := float64(r.Counts[cpuCount(cpu, "idle")])
		busy += max(1-idle/whole, 0)
		held += (float64(r.Counts[cpuCount(cpu, "loop_ns")]) - idle) / whole
	}
	return busy, held, true
}

// stolen is the CPU time per second that the hypervisor had for others while
// the end's CPUs wanted it.
func stolen(c *Counters) float64 {
	r := c.Reading(SourceCPU)
	if r == nil || r.Elapsed <= 0 {
		return 0
	}
	sum := 0.0
	for _, cpu := range c.CPUs {
		sum += float64(r.Counts[cpuCount(cpu, "steal")]) / float64(r.Elapsed)
	}
	return sum
}

func cpuCount(cpu int, kind string) string { return fmt.Sprintf("cpu%d.%s", cpu, kind) }

// soakWarnings warn of ends whose idle-priority loops were not well calibrated or
// did not give way to all others, and of those where the loops and the kernel's
// accounting don't agree on what the test cost.
func (t *Trial) soakWarnings() []Warning {
	var all []Warning
	for _, e := range []*End{&t.Local, t.Remote} {
		if e == nil {
			continue
		}
		soak, held, soaked := soakBusy(e.Counters)
		if !soaked {
			continue
		}
		if w := uncalibrated(e); w != nil {
			all = append(all, *w)
		}
		if e.Counters.Reading(SourceSoak).Levels["grouped"] == 1 {
			all = append(all, Warning{
				Code: soakGrouped, Metric: CPUSoak, End: e.Role,
				Text:   e.Role + " end: the loops of idle priority give way to threads of their own session or control group only: the kernel's threads (ksoftirqd, threaded NAPI) and all other sessions had to share the CPUs with them",
				Advice: "switch the groups of sessions off for the test (sysctl -w kernel.sched_autogroup_enabled=0) and run outside of control groups that have a share of the CPU, or measure without loops where kernel threads are at work",
			})
		}
		accounted, sigma, ok := accountedBusy(e.Counters)
		margin := max(soakMargin, soakShare*max(soak, accounted)) + soakErrors*sigma
		if !ok || math.Abs(soak-accounted) <= margin {
			continue
		}
		why, advice := disagreement(soak, accounted, held, stolen(e.Counters))
		all = append(all, Warning{
			Code: soakDisagrees, Metric: CPUSoak, End: e.Role,
			Text: fmt.Sprintf("%s end: %.2f of %s were busy by the loops of idle priority, and %.2f by the kernel's accounting, which is good to %.2f here: %s",
				e.Role, soak, unit.Count(len(e.Counters.CPUs), "CPU"), accounted, margin, why),
			Advice: advice,
		})
	}
	return all
}

// disagreement is what may be behind a difference between the two figures, and
// what to do about it. held is soakBusy's, and stolen of the same unit.
func disagreement(soak, accounted, held, stolen float64) (why, advice string) {
	lacks := soak - accounted
	switch {
	case lacks < 0 && held <= lacks/2:
		return fmt.Sprintf("a loop still worked for %.2f when the accounting took its CPU for another thread's: that counts from a wake-up on, not from the change of threads, or else the CPU had become faster", -held),
			"take the loops' figure where a test wakes threads up often; if the CPUs change their clock, turn that off (governor, boost) and repeat"
	case lacks < 0:
		return "the kernel's tick asked what runs more often when that was the test than is its share",
			"take the loops' figure; give the window more time (--time), which makes the accounting better"
	case stolen >= stealShare*lacks:
		return fmt.Sprintf("the hypervisor took %.2f of a CPU for others, which the loops lack and no accounting charges", stolen),
			"take the accounting's figure, or measure on a machine whose CPUs are its own"
	case held >= lacks/2:
		return fmt.Sprintf("%.2f of it passed while a loop had its CPU: interrupts that the accounting charges to what they interrupt, a busy hyperthread beside it, or a lower clock", held),
			"take the loops' figure for the cost with interrupts; if the CPUs have hyperthreads or change their clock, turn that off and repeat"
	}
	return "what ran beside the loops was not running when the kernel's tick asked, as is so with threads that wake up by timers or whose CPU has interrupts off",
		"take the loops' figure; a kernel with CONFIG_VIRT_CPU_ACCOUNTING_GEN or CONFIG_IRQ_TIME_ACCOUNTING accounts exactly; give the window more time (--time)"
}

// uncalibrated warns of loops that were disturbed when they were calibrated;
// nil if they were not.
func uncalibrated(e *End) *Warning {
	levels := e.Counters.Reading(SourceSoak).Levels
	spread, got := levels["calibration_spread_ppm"], levels["calibration_got_ppm"]
	var what string
	switch {
	case spread > soakSpread:
		what = fmt.Sprintf("its rate spread by %.1f%%, where at most %.1f%% would do", float64(spread)/1e4, soakSpread/1e4)
	case got < soakGot:
		what = fmt.Sprintf("something else had a CPU for %.0f%% of the time", 100-float64(got)/1e4)
	default:
		return nil
	}
	return &Warning{
		Code: soakUncalibrated, Metric: CPUSoak, End: e.Role,
		Text:   fmt.Sprintf("%s end: a loop of idle priority was calibrated on a machine that was not idle: %s", e.Role, what),
		Advice: "end what else runs there, and let the machine rest for a moment before the test",
	}
}
