package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/spec"
)

// Thresholds of the guards about CPU time, as shares of the window unless it is
// said otherwise.
const (
	boundFrom      = 0.97 // a thread at work for so long has no time left
	ownCodeFrom    = 0.5  // of the thread's time
	saturatedFrom  = 0.98
	interruptsFrom = 0.5
	// unexplainedFrom is how much of a busy CPU's time must be neither
	// interrupts' nor the traffic threads' that run there.
	unexplainedFrom = 0.3
	stealFrom       = 0.02 // of one CPU
	contendedFrom   = 0.05
	busyBeforeFrom  = 0.05
	coarseFrom      = 0.05 // one tick as a share of the window
	frequencyFrom   = 0.05 // of the frequency
	stepFrom        = 1_000_000
)

// Names of counts that package traffic gives an end: the CPU time of its
// process.
const (
	countUser   = "cpu_user_ns"
	countSystem = "cpu_system_ns"
)

var cpuGuards = []guard{
	{GuardToolBound, "what is measured is how fast this program goes, rather than the path: give it more flows and threads (flows=4,threads=4), larger messages, or a method that takes fewer calls (send=, recv=)", boundByOwnCode},
	{GuardToolBound, "what is measured is how fast the kernel serves one thread: spread the traffic over more flows and threads (flows=4,threads=4), or hold the rate (rate=, pacing=) and compare the cost", boundByKernel},
	{GuardCPUSaturated, "one CPU takes in all packets: spread them over several (RSS, RPS, more flows), or hold the rate (rate=, pacing=) and compare the cost", saturatedByInterrupts},
	{GuardCPUSaturated, "look at what else runs there (top), and keep it off the CPUs of the test", saturatedByOthers},
	{GuardCPUContended, "stop what else runs on the machine, or bind the ends to CPUs of their own", contended},
	{GuardSteal, "measure when the virtual machine's host is quiet, or on CPUs that are its own", steal},
	{GuardPageFaults, "free memory, or allow more of it to be locked (ulimit -l); a file that is sent is best read once before the test", pageFaults},
	{GuardBusyBefore, "stop what else runs on the machine (top): it is taken off the CPU figures where that can be done, but not out of the others", busyBefore},
	{GuardCoarseCPU, "measure for longer (--time), or as root, who is told idle time exactly", coarse},
	{GuardFrequency, "fix the frequency (cpupower frequency-set -g performance, and boost off), or give it more time to settle (--warmup)", frequencyChanged},
	{GuardThrottled, "the CPU is too hot or over its power limit: cool it, or lower its highest frequency", throttled},
	{GuardClockStep, "see that the machine's time is settled before a run (timedatectl, chronyc tracking)", clockStepped},
}

// trafficThreads are the numbers of the end's traffic threads that were read,
// in ascending order.
func trafficThreads(r *Reading) []int {
	var all []int
	for _, names := range []map[string]int64{r.Counts, r.Levels} {
		for name := range names {
			rest, is := strings.CutPrefix(name, "traffic")
			number, _, dotted := strings.Cut(rest, ".")
			if n, err := strconv.Atoi(number); is && dotted && err == nil && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return all
}

// busiest is the largest share of the window that a traffic thread spent with
// what a count of threads tells of.
func busiest(e *End, what string) float64 {
	r := e.Counters.Reading(SourceThreads)
	if r == nil {
		return 0
	}
	most := 0.0
	for _, n := range trafficThreads(r) {
		most = max(most, r.part(r.rose(fmt.Sprintf("traffic%d.%s", n, what))))
	}
	return most
}

// bound is the share of the window that the busiest traffic thread was at work,
// and the share of that in the program's own code, -1 if that is not known; ok
// if the thread had no time left and so may have set the pace. One that spins
// is busy without being in the way, and one that keeps a rate does as asked.
func bound(t *Trial, e *End) (busy, own float64, ok bool) {
	busy = busiest(e, "run_ns")
	p := t.Test.Kind().Pattern
	if busy < boundFrom || p == spec.Echo || p == spec.Wake || t.Test.Params.BusyPoll != 0 || t.keptRate() {
		return 0, 0, false
	}
	own = -1
	user, there := e.Counts[countUser]
	if all := user + e.Counts[countSystem]; there && all > 0 {
		own = float64(user) / float64(all)
	}
	return busy, own, true
}

func boundByOwnCode(t *Trial, e *End) *finding {
	busy, own, ok := bound(t, e)
	if !ok || own < ownCodeFrom {
		return nil
	}
	return found("a traffic thread was at work for %s of the window, with %s of its time in the program's own code", inPercent(min(busy, 1)), inPercent(own))
}

// boundByKernel is silent on one machine, where the kernel's work for both ends
// and the link is what there is to measure, as GuardOneMachine says.
func boundByKernel(t *Trial, e *End) *finding {
	busy, own, ok := bound(t, e)
	switch {
	case !ok || own >= ownCodeFrom || t.onOneMachine():
		return nil
	case own < 0:
		return found("a traffic thread was at work for %s of the window", inPercent(min(busy, 1)))
	}
	return found("a traffic thread was at work for %s of the window, with %s of its time in the program's own code and the rest in the kernel's", inPercent(min(busy, 1)), inPercent(own))
}

// contended is silent where the coordinator knows that there are more threads
// than CPUs, and said so, and where the test asks for that.
func contended(t *Trial, e *End) *finding {
	waited := busiest(e, "run_delay_ns")
	if waited <= contendedFrom || t.warned(oversubscribed) || t.sharesCPUs() {
		return nil
	}
	return found("a traffic thread was ready for %s of the window and had no CPU", inPercent(waited))
}

// sharesCPUs says that the test itself has its threads share their CPUs, with each
// other or with loops that it runs beside them.
func (t *Trial) sharesCPUs() bool {
	return t.Test.Params.At == spec.WakeSame || t.Test.Params.Busy != ""
}

// oversubscribed is the coordinator's code for more threads than CPUs.
const oversubscribed = "oversubscribed"

// steal is of the CPU that lost most: a machine has many that want nothing, from
// which nothing can be taken.
func steal(_ *Trial, e *End) *finding {
	r := e.Counters.Reading(SourceCPU)
	if r == nil {
		return nil
	}
	var most int64
	for name, n := range r.Counts {
		if strings.HasPrefix(name, "cpu") && strings.HasSuffix(name, ".steal") {
			most = max(most, n)
		}
	}
	// One tick may be one moment.
	if part := r.part(most); part > stealFrom && most > r.Levels["resolution_ns"] {
		return found("the virtual machine's host took away %s of a CPU's time", inPercent(part))
	}
	return nil
}

func pageFaults(_ *Trial, e *End) *finding {
	r := e.Counters.Reading(SourceThreads)
	if r == nil {
		return nil
	}
	var faults int64
	for _, n := range trafficThreads(r) {
		faults += r.rose(fmt.Sprintf("traffic%d.major_faults", n))
	}
	if faults == 0 {
		return nil
	}
	return found("traffic threads waited for memory to be read from disk (major page faults: %s)", fmt.Sprint(faults))
}

func busyBefore(_ *Trial, e *End) *finding {
	if e.Counters == nil || len(e.Counters.Baseline) == 0 {
		return nil
	}
	busy, step := e.Counters.busyCPUs(e.Counters.Baseline)
	if len(busy) == 0 {
		return nil
	}
	sum := 0.0
	for _, share := range busy {
		sum += share
	}
	mean := sum / float64(len(busy))
	if mean <= busyBeforeFrom+step {
		return nil
	}
	return found("the CPUs were busy for %s of the time before the test began", inPercent(mean))
}

func coarse(_ *Trial, e *End) *finding {
	if e.Counters == nil {
		return nil
	}
	busy, step := e.Counters.busyCPUs(e.Counters.Readings)
	if len(busy) == 0 || step <= coarseFrom {
		return nil
	}
	return found("CPU time is known no finer than %s of the window", inPercent(step))
}

// frequencyChanged looks at the CPUs at work alone: one that rests has whatever
// clock it likes.
func frequencyChanged(_ *Trial, e *End) *finding {
	r := e.Counters.Reading(SourceFrequency)
	if r == nil {
		return nil
	}
	most, from, to := frequencyFrom, int64(0), int64(0)
	for _, cpu := range e.Counters.atWork() {
		was, is, ok := r.stood(fmt.Sprintf("cpu%d.khz", cpu))
		if !ok || was <= 0 || is <= 0 {
			continue
		}
		if change := ratio(float64(max(was, is)-min(was, is)), float64(was)); change > most {
			most, from, to = change, was, is
		}
	}
	if from == 0 {
		return nil
	}
	return found("a CPU's frequency went from %s to %s MHz within the window", fmt.Sprint(from/1000), fmt.Sprint(to/1000))
}

func throttled(_ *Trial, e *End) *finding {
	r := e.Counters.Reading(SourceFrequency)
	if r == nil {
		return nil
	}
	var times int64
	for name, n := range r.Counts {
		if strings.HasSuffix(name, ".throttles") {
			times += n
		}
	}
	if times == 0 {
		return nil
	}
	return found("CPUs were throttled within the window (times: %s)", fmt.Sprint(times))
}

// clockStepped is silent of a host of which the coordinator has said it.
func clockStepped(t *Trial, e *End) *finding {
	step := around(e, SourceClock).rose("step_ns")
	if step <= stepFrom || t.warned(GuardClockStep) && (e.Role == Local || t.onOneMachine()) {
		return nil
	}
	return found("the wall clock moved by %s against the monotonic one", inDuration(step))
}
