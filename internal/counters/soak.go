package counters

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"netdelta/internal/sys"
)

// soak is what loops of idle priority, one on each CPU, still got.
type soak struct {
	loops []*loop
	rates []float64 // of each, pieces per second
	level map[string]int64
	last  *sample // the one before: nothing has taken longer than the time since
	done  []int64 // pieces of each loop by then
}

// openSoak calibrates a loop of idle priority on each of the options' CPUs, all
// at the same time, while nothing is to run there. It takes 180 ms, and up to
// 660 ms where something does. The loops rest after that until the test's first
// message, while the idle baseline is looked at too, and are gone when the source
// is closed. A calibration is by the time that the loop had its CPU for: what
// else the machine does by itself is not in it, and is in what the loops lack
// later.
//
// Counts, for each CPU:
//   - cpuN.idle: nanoseconds for which the loop worked, which are the pieces of
//     work that it did, over its calibrated rate; never more than went by. What
//     is missing to the reading's time something else had: threads, interrupts,
//     softirqs, a busy hyperthread beside it, the hypervisor.
//   - cpuN.loop_ns: the CPU time of the loop's thread, as the scheduler counts it.
//     It has what interrupts took out of the loop's time, unless the kernel counts
//     that apart (CONFIG_IRQ_TIME_ACCOUNTING), which cpuN.idle never has; and it
//     lacks what the loop still did between another CPU's waking up a thread and
//     the change to that thread (rq_clock_skip_update of kernel/sched), some
//     microseconds each time in a virtual machine, which are charged to the
//     thread. loop_ns less idle is the one less the other.
//
// Levels: cpuN.calibration_rate in pieces per second, and calibration_rate, the
// median over the CPUs; calibration_spread_ppm, the range of the middle half of
// a calibration's slices, in millionths of the rate, on the CPU where it is
// widest; calibration_got_ppm, how much of the calibration the loop had its CPU
// for, where that was least; grouped, 1 where the loops give way to no threads
// but those of their own session or control group, and share their CPUs with all
// others, and 0 where they give way to all.
//
// With loops no CPU is ever idle: the counts of idle time of the sources "cpu"
// and "idle" stand still and say nothing about the test. What the kernel's
// accounting then has for all but the loops is, of the source "cpu",
//
//	user + system + irq + softirq
//
// since the loops' own time is counted as "nice" (sys.SetIdle), nothing else
// than niced threads is with it there, and steal is nobody's. The kernel gets
// these by asking at each tick what runs: of a window of length W with a share p
// of it busy, the standard error is sqrt(p (1-p) tick / W), 3% of a CPU for a
// second at 250 Hz, and what runs with interrupts off is not seen at all. A
// figure that knows no ticks is the reading's time less cpuN.loop_ns.
//
// The loops change what is measured: a CPU that works never sleeps, so that
// nothing waits for it to wake up, and its clock may be another. Figures of
// latency with and without them can't be compared.
func openSoak(o *Options) (source, error) {
	if o.Shared {
		return nil, unavailable("the loops of the other end, which has the same CPUs, are told of there")
	}
	if len(o.CPUs) == 0 {
		return nil, unavailable("which CPUs there are is not known")
	}
	cpus := slices.Compact(slices.Sorted(slices.Values(o.CPUs)))
	for _, cpu := range cpus {
		if err := sys.CheckCPU(cpu); err != nil {
			return nil, reason(fmt.Errorf("a loop of idle priority on CPU %d: %w", cpu, err))
		}
	}
	// Each loop has a place of its own, as each traffic thread has, and one more
	// is needed beside them. It is made now: later, all goroutines would have to
	// stop for it.
	if n := len(cpus) + max(o.Threads, 1) + 1; runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
	s := &soak{level: map[string]int64{}, done: make([]int64, len(cpus))}
	for _, cpu := range cpus {
		l, err := startLoop(cpu)
		if err != nil {
			s.close()
			return nil, reason(err)
		}
		s.loops = append(s.loops, l)
		o.threads.exclude(l.tid)
	}
	all, err := calibrate(s.loops)
	if err != nil {
		s.close()
		return nil, reason(fmt.Errorf("calibrate loops of idle priority: %w", err))
	}
	s.calibrated(all)
	s.level["grouped"] = 0
	if sharesByGroup(o.root) {
		s.level["grouped"] = 1
	}
	return s, nil
}

// calibrated takes the rates, and tells of them.
func (s *soak) calibrated(all []calibration) {
	spread, got := 0.0, 1.0
	for i, c := range all {
		s.rates = append(s.rates, c.rate)
		s.level[fmt.Sprintf("cpu%d.calibration_rate", s.loops[i].cpu)] = int64(c.rate)
		spread, got = max(spread, c.spread), min(got, c.got)
	}
	sorted := slices.Sorted(slices.Values(s.rates))
	s.level["calibration_rate"] = int64(sorted[len(sorted)/2])
	s.level["calibration_spread_ppm"] = int64(math.Round(spread * 1e6))
	s.level["calibration_got_ppm"] = int64(math.Round(got * 1e6))
}

// start has the loops work.
func (s *soak) start() {
	for _, l := range s.loops {
		l.work()
	}
}

// apart is the CPU time of the loops so far, which is none of the traffic's.
func (s *soak) apart() int64 {
	var sum int64
	for _, l := range s.loops {
		n, err := l.time()
		if err != nil {
			return 0
		}
		sum += n
	}
	return sum
}

func (s *soak) take() (*sample, error) {
	x := &sample{at: now(), counts: map[string]int64{}, levels: maps.Clone(s.level)}
	for i, l := range s.loops {
		name := fmt.Sprintf("cpu%d.", l.cpu)
		m, err := l.moment()
		if err != nil {
			return nil, err
		}
		x.counts[name+"loop_ns"] = m.cpu
		x.counts[name+"idle"] = s.idle(i, x.at, m.pieces)
		s.done[i] = m.pieces
	}
	s.last = x
	return x, nil
}

// idle is the time that a loop has had by now, when it has done so many pieces.
func (s *soak) idle(i int, at, pieces int64) int64 {
	had := int64(float64(pieces-s.done[i]) / s.rates[i] * 1e9)
	if s.last == nil {
		return had
	}
	return s.last.counts[fmt.Sprintf("cpu%d.idle", s.loops[i].cpu)] + min(had, at-s.last.at)
}

func (s *soak) close() error {
	restAll(s.loops)
	for _, l := range s.loops {
		l.end()
	}
	s.loops = nil
	return nil
}
