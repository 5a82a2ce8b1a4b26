package doctor

import (
	"fmt"
	"math"
	"strconv"

	"netdelta/internal/result"
)

// From these on what a machine does while nothing is measured is told.
const (
	muchBusy     = 0.02 // of the machine
	muchOneBusy  = 0.10 // of one CPU
	muchSteal    = 0.001
	muchSwitches = 1000.0 // per second and CPU
	muchIRQs     = 2000.0 // per second and CPU
	muchPackets  = 500.0  // per second, in or out
	muchChange   = 0.10   // of a frequency
)

func busyCPUs(v *view) ([]Finding, bool) {
	shares, ok := v.busy()
	if !ok {
		return unknown()
	}
	sum, most, at := 0.0, 0.0, 0
	for i, s := range shares {
		sum += s
		if s > most {
			most, at = s, i
		}
	}
	mean := sum / float64(len(shares))
	if mean < muchBusy && most < muchOneBusy {
		return fine()
	}
	return one(Finding{
		Weight:  45 + int(50*math.Sqrt(max(mean, most/2))),
		What:    fmt.Sprintf("the machine is at work though nothing is measured: %.2f of %d CPUs, CPU %d most with %.0f%%", sum, len(shares), v.cpus()[at], 100*most),
		Why:     "other work takes CPU time, caches and memory from the test, at moments of its own",
		HowMuch: fmt.Sprintf("%.0f%% of the CPU time there is", 100*mean),
		Command: "top -b -n 1 -o %CPU | head -n 20",
		Advice:  "end what this shows, or move it off the CPUs that are measured on",
	})
}

func stolen(v *view) ([]Finding, bool) {
	r := v.Look.Reading(result.SourceCPU)
	if r == nil || r.Elapsed <= 0 || len(v.cpus()) == 0 {
		return unknown()
	}
	var ns int64
	for _, cpu := range v.cpus() {
		ns += r.Counts["cpu"+strconv.Itoa(cpu)+".steal"]
	}
	share := float64(ns) / float64(r.Elapsed) / float64(len(v.cpus()))
	if share < muchSteal {
		return fine()
	}
	return one(Finding{
		Weight:  60 + int(35*math.Sqrt(min(share, 1))),
		What:    "the hypervisor gives this machine's CPUs to others",
		Why:     "a CPU that is taken away in the middle of a round trip makes it some milliseconds longer",
		HowMuch: fmt.Sprintf("%.1f%% of the time of its CPUs was stolen in a moment in which it had little to do; under load it is more", 100*share),
		Advice:  "use a host whose CPUs are its own, or measure in more and shorter blocks",
	})
}

func throttled(v *view) ([]Finding, bool) {
	r := v.Look.Reading(result.SourceFrequency)
	if r == nil {
		return unknown()
	}
	n, _ := v.rate(result.SourceFrequency, "cpu", ".throttles")
	if n == 0 {
		return fine()
	}
	return one(Finding{Weight: 80, What: "CPUs are slowed down because they are too hot",
		Why: "how fast the machine is depends on how long it has worked", HowMuch: fmt.Sprintf("%.0f times a second while nothing was measured", n),
		Advice: "look at the cooling, or hold the frequency below what heats: cpupower frequency-set -u FREQUENCY"})
}

func clockSteps(v *view) ([]Finding, bool) {
	ns, ok := v.count(result.SourceClock, "step_ns")
	if !ok {
		return unknown()
	}
	const much = 500_000 // beyond what slewing and the reading itself do in a second
	if ns < much {
		return fine()
	}
	return one(Finding{Weight: 75, What: "the clock was set while it was looked at", Why: "times that are told by the clock are wrong by so much",
		HowMuch: fmt.Sprintf("by %.1f ms", float64(ns)/1e6), Command: "chronyc tracking || timedatectl timesync-status", Advice: "let the clock settle before measuring"})
}

func restless(v *view) ([]Finding, bool) {
	return v.often(result.SourceCPU, "context_switches", muchSwitches, Finding{Weight: 35,
		What: "threads of others run often", Why: "each may take a CPU from the test just then, and leaves its caches cold",
		Command: "pidstat -w 1 5", Advice: "end what this shows"}, "context switches")
}

func interrupted(v *view) ([]Finding, bool) {
	return v.often(result.SourceCPU, "interrupts", muchIRQs, Finding{Weight: 35,
		What: "CPUs are interrupted often", Why: "each interrupt takes some microseconds from what runs there",
		Command: "watch -d -n 1 cat /proc/interrupts", Advice: "find the device that interrupts, and what uses it"}, "interrupts")
}

// often finds a count that rises faster than so often a second on each CPU.
func (v *view) often(source, name string, much float64, f Finding, unit string) ([]Finding, bool) {
	n, ok := v.rate(source, name, "")
	if !ok || len(v.cpus()) == 0 {
		return unknown()
	}
	if n /= float64(len(v.cpus())); n < much {
		return fine()
	}
	f.HowMuch = fmt.Sprintf("%.0f %s a second on each CPU, while nothing was measured", n, unit)
	return one(f)
}

func networkBusy(v *view) ([]Finding, bool) {
	in, ok := v.rate(result.SourceDevice, "rx_packets", "")
	out, _ := v.rate(result.SourceDevice, "tx_packets", "")
	if !ok {
		return unknown()
	}
	if max(in, out) < muchPackets {
		return fine()
	}
	return one(Finding{Weight: 60, Device: v.Device, What: "other traffic crosses the path's interface",
		Why: "it takes bandwidth, queue and CPU time from the test, and its packets count as the test's", HowMuch: fmt.Sprintf("%.0f packets a second in, %.0f out", in, out),
		Command: "ss -tunp", Advice: "end what this shows, or use another interface"})
}

func softnet(v *view) ([]Finding, bool) {
	r := v.Look.Reading(result.SourceSoftnet)
	if r == nil {
		return unknown()
	}
	dropped, squeezed := r.Counts["dropped"], r.Counts["squeezed"]
	if dropped == 0 && squeezed == 0 {
		return fine()
	}
	f := Finding{Weight: 45, What: "the network's softirqs run out of their budget though nothing is measured",
		Why: "packets wait for a next run of the softirq", HowMuch: fmt.Sprintf("%d times in %.1f s", squeezed, r.Elapsed.Seconds()),
		Command: "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=8000"}
	if dropped > 0 {
		f.Weight, f.What, f.Why = 70, "packets are dropped before they reach a protocol", "what is lost there is loss of the host's, and not of the path's"
		f.HowMuch = fmt.Sprintf("%d packets in %.1f s", dropped, r.Elapsed.Seconds())
		f.Command = "sysctl -w net.core.netdev_max_backlog=10000"
	}
	return one(f)
}

func frequencyMoves(v *view) ([]Finding, bool) {
	r := v.Look.Reading(result.SourceFrequency)
	if r == nil {
		return unknown()
	}
	most, known := 0.0, false
	for _, cpu := range v.cpus() {
		name := "cpu" + strconv.Itoa(cpu) + ".khz"
		now, there := r.Levels[name]
		known = known || there
		if was, moved := r.Was[name]; moved && there && was > 0 && now > 0 {
			most = max(most, math.Abs(math.Log(float64(now)/float64(was))))
		}
	}
	switch {
	case !known:
		return unknown()
	case most < muchChange:
		return fine()
	}
	return one(Finding{Weight: 42, What: "the frequency of CPUs moves", Why: "the same work takes a different time from moment to moment",
		HowMuch: fmt.Sprintf("by %.0f%% within a moment", 100*(math.Exp(most)-1)), Command: "cpupower frequency-set -g performance"})
}

func notLooked(v *view) ([]Finding, bool) {
	if v.Look != nil {
		return fine()
	}
	why := v.Unseen
	if why == "" {
		why = "it was not asked to"
	}
	return one(Finding{Weight: 15, What: "what this host does could not be looked at: " + why, Why: "load, stolen time and other traffic there are not known",
		Advice: "make sure of them there: netdelta doctor looks at the host that it runs on"})
}
