package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// slowGovernors choose a frequency by what a CPU has been doing.
var slowGovernors = []string{"powersave", "ondemand", "conservative", "schedutil", "userspace"}

func governor(v *view) ([]Finding, bool) {
	is, ok := v.fact("governor")
	if !ok {
		return unknown()
	}
	for _, name := range slowGovernors {
		if !strings.Contains(is, name) {
			continue
		}
		f := Finding{Weight: 72, What: "the frequency governor is " + is, Command: "cpupower frequency-set -g performance",
			Why: "CPUs that were idle begin slowly and get faster as they work, so that how fast a variant is depends on how busy it kept them"}
		if of, ok := v.fact("frequency range"); ok {
			f.HowMuch = "CPUs may run at anything from " + of
		}
		return one(f)
	}
	return fine()
}

// deep is how long waking from an idle state may take, in microseconds.
const deep = 20

var toWake = regexp.MustCompile(`(\d+) us to wake`)

func idleStates(v *view) ([]Finding, bool) {
	is, ok := v.fact("idle states")
	if !ok {
		return unknown()
	}
	most := 0
	for _, m := range toWake.FindAllStringSubmatch(is, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			most = max(most, n)
		}
	}
	if most <= deep {
		return fine()
	}
	return one(Finding{Weight: min(66, 46+most/10), What: "CPUs may sleep deeply: " + is,
		Why:     "a packet that comes to a sleeping CPU waits until that has woken, so that latency is less under load than without",
		HowMuch: fmt.Sprintf("up to %d us for each wake-up", most), Command: fmt.Sprintf("cpupower idle-set -D %d", deep)})
}

func turbo(v *view) ([]Finding, bool) {
	is, ok := v.fact("turbo")
	switch {
	case !ok:
		return unknown()
	case is != "on":
		return fine()
	}
	command := "echo 0 > /sys/devices/system/cpu/cpufreq/boost"
	if driver, _ := v.fact("frequency driver"); strings.HasPrefix(driver, "intel_") {
		command = "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
	}
	return one(Finding{Weight: 38, What: "turbo is on", Why: "how fast a CPU runs depends on its heat and on how many others work", Command: command})
}

func smt(v *view) ([]Finding, bool) {
	is, ok := v.fact("cpu topology")
	switch {
	case !ok:
		return unknown()
	case !strings.HasSuffix(is, "SMT on"):
		return fine()
	}
	return one(Finding{Weight: 40, What: "CPUs share cores (" + is + ")",
		Why:     "a thread is slower while another one works on the same core, and where threads come to run is chance",
		Command: "echo off > /sys/devices/system/cpu/smt/control", Advice: "or bind threads to different cores, with --cpu-local and --cpu-remote"})
}

func fewCPUs(v *view) ([]Finding, bool) {
	is, ok := v.fact("cpus")
	n, err := strconv.Atoi(strings.TrimSuffix(is, " usable"))
	if !ok || err != nil {
		return unknown()
	}
	ends := 2
	if len(v.in.Hosts) > 1 && !sharesMachine(v.in) {
		ends = 1
	}
	if n > ends {
		return fine()
	}
	what := fmt.Sprintf("this host has %d CPUs for the test and the rest of the system", n)
	if ends == 2 {
		what = fmt.Sprintf("both ends of a lab here would have %d CPUs between them", n)
		if len(v.in.Hosts) > 1 {
			what = fmt.Sprintf("both ends have %d CPUs between them", n)
		}
	}
	return one(Finding{Weight: 50, What: what, Why: "threads, softirqs and the rest of the system wait for one another, so that CPU time is what limits throughput",
		Advice: "give it more CPUs, or bind ends and softirqs to CPUs of their own and compare what their CPU time adds up to"})
}

func groupLimit(v *view) ([]Finding, bool) {
	limit, limited := v.fact("control group cpu limit")
	if _, seen := v.fact("control group cpus"); !seen && !limited {
		return unknown()
	}
	if !limited {
		return fine()
	}
	return one(Finding{Weight: 85, What: "the control group may use " + limit + " CPUs",
		Why: "who has used that up stands still for the rest of a period, up to 100 ms", Command: "cat /proc/self/cgroup",
		Advice: "write max to cpu.max of the groups that this names (-1 to cpu.cfs_quota_us in version 1), or start the agent outside of them"})
}

func numa(v *view) ([]Finding, bool) {
	if _, known := v.fact("cpu topology"); !known {
		return unknown()
	}
	nodes, several := v.fact("numa nodes")
	if !several {
		return fine()
	}
	f := Finding{Weight: 34, What: "memory and CPUs are of several nodes (" + nodes + ")",
		Why:    "what runs away from its memory and its interface is slower, and where it comes to run is chance",
		Advice: "bind the ends' threads to CPUs of one node, with --cpu-local and --cpu-remote"}
	for _, d := range v.devices() {
		if node, ok := v.about(d, "numa node"); ok {
			f.HowMuch = d + " is on node " + node
			f.Device = d
			break
		}
	}
	return one(f)
}

func numaBalancing(v *view) ([]Finding, bool) {
	_, several := v.fact("numa nodes")
	is, ok := v.fact("numa balancing")
	switch {
	case !ok:
		return unknown()
	case !several || is != "on":
		return fine()
	}
	return one(Finding{Weight: 32, What: "the kernel moves memory between NUMA nodes by itself", Why: "each page that it tries is a page fault in the middle of a test",
		Command: "sysctl -w kernel.numa_balancing=0"})
}

func autogroup(v *view) ([]Finding, bool) {
	on, ok := v.number("kernel.sched_autogroup_enabled")
	switch {
	case !ok:
		return unknown()
	case on == 0:
		return fine()
	}
	return one(Finding{Weight: 9, What: "the scheduler shares CPU time among sessions before it looks at priorities",
		Why:     "a loop of idle priority (--soak) takes its share from other sessions and kernel threads, and niceness counts within a session only",
		Command: "sysctl -w kernel.sched_autogroup_enabled=0"})
}

func mitigations(v *view) ([]Finding, bool) {
	var on []string
	known := false
	for _, f := range v.Facts {
		if name, ok := strings.CutPrefix(f.Name, "mitigation "); ok {
			known = true
			if !strings.HasPrefix(f.Value, "Vulnerable") {
				on = append(on, name)
			}
		}
	}
	switch {
	case !known:
		return unknown()
	case len(on) == 0:
		return fine()
	}
	return one(Finding{Weight: 8, What: "the kernel works around flaws of the CPU: " + list(on),
		Why:    "system calls and context switches cost more; figures of kernels or machines that differ in this differ by it",
		Advice: "leave it as it is where users have it so, and have it the same for all that is compared"})
}
