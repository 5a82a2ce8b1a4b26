package counters

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

const cpuDir = "sys/devices/system/cpu"

// perCPU reads a file of each CPU's own directory.
func perCPU(name string) func(root string) string {
	return eachCPU(func(dir string) string { return line(dir, name) })
}

// eachCPU asks something of each CPU, by its directory.
func eachCPU(ask func(dir string) string) func(root string) string {
	return func(root string) string {
		dirs, numbers := numbered(root, cpuDir+"/cpu[0-9]*")
		values := make([]string, len(dirs))
		for i, dir := range dirs {
			values[i] = ask(dir)
		}
		return grouped(numbers, values)
	}
}

// cpuFacts are how the CPUs are built, and what may change their speed
// (Documentation/admin-guide/pm).
func cpuFacts(root string) []Fact {
	driver, by := line(root, cpuDir+"/cpuidle/current_driver"), line(root, cpuDir+"/cpuidle/current_governor")
	if by == "" {
		by = line(root, cpuDir+"/cpuidle/current_governor_ro")
	}
	if driver != "" && by != "" {
		driver += ", governor " + by
	}
	return valued(
		Fact{Name: "cpu topology", Value: topology(root)},
		Fact{Name: "cpus isolated", Value: line(root, cpuDir+"/isolated")},
		Fact{Name: "cpus tickless", Value: tickless(root)},
		Fact{Name: "frequency driver", Value: perCPU("cpufreq/scaling_driver")(root)},
		Fact{Name: "frequency range", Value: eachCPU(frequencyRange)(root)},
		Fact{Name: "energy preference", Value: perCPU("cpufreq/energy_performance_preference")(root)},
		Fact{Name: "turbo", Value: turbo(root)},
		Fact{Name: "idle driver", Value: driver},
		Fact{Name: "idle states", Value: eachCPU(deepest)(root)},
	)
}

// topology counts sockets, cores and threads.
func topology(root string) string {
	dirs, _ := numbered(root, cpuDir+"/cpu[0-9]*")
	sockets, cores, threads := map[string]bool{}, map[string]bool{}, 0
	for _, dir := range dirs {
		socket, core := line(dir, "topology/physical_package_id"), line(dir, "topology/core_id")
		if socket == "" || core == "" {
			continue // offline
		}
		threads++
		sockets[socket] = true
		cores[socket+" "+line(dir, "topology/die_id")+" "+core] = true
	}
	if threads == 0 {
		return ""
	}
	smt := "off"
	if len(cores) < threads {
		smt = "on"
	}
	return fmt.Sprintf("sockets %d, cores %d, threads %d, SMT %s", len(sockets), len(cores), threads, smt)
}

// tickless are the CPUs that nohz_full spares the tick.
func tickless(root string) string {
	if v := line(root, cpuDir+"/nohz_full"); v != "(null)" {
		return v
	}
	return ""
}

// frequencyRange is what the governor may choose from, in MHz.
func frequencyRange(dir string) string {
	low, err := strconv.Atoi(line(dir, "cpufreq/scaling_min_freq"))
	high, err2 := strconv.Atoi(line(dir, "cpufreq/scaling_max_freq"))
	if err != nil || err2 != nil {
		return ""
	}
	return fmt.Sprintf("%d to %d MHz", low/1000, high/1000)
}

// turbo says whether CPUs may run faster than they can for long.
func turbo(root string) string {
	switch line(root, cpuDir+"/intel_pstate/no_turbo") {
	case "0":
		return "on"
	case "1":
		return "off"
	}
	switch line(root, cpuDir+"/cpufreq/boost") {
	case "1":
		return "on"
	case "0":
		return "off"
	}
	return ""
}

// deepest is the slowest idle state of a CPU that is not disabled, with the
// time that it takes to wake from it.
func deepest(dir string) string {
	states, _ := numbered(dir, "cpuidle/state[0-9]*")
	is, most := "", -1
	for _, state := range states {
		latency, err := strconv.Atoi(line(state, "latency"))
		if err != nil || line(state, "disable") == "1" || latency <= most {
			continue
		}
		is, most = fmt.Sprintf("%s, %d us to wake", line(state, "name"), latency), latency
	}
	return is
}

// mitigationFacts are the CPU's flaws that the kernel knows of, with what it
// does about each.
func mitigationFacts(root string) []Fact {
	const dir = cpuDir + "/vulnerabilities"
	names, err := filepath.Glob(filepath.Join(root, dir, "*"))
	if err != nil {
		return nil
	}
	var all []Fact
	for _, name := range names { // sorted by Glob
		v := line(name, "")
		if v == "" || v == "Not affected" {
			continue
		}
		all = append(all, Fact{Name: "mitigation " + filepath.Base(name), Value: strings.TrimPrefix(v, "Mitigation: ")})
	}
	return all
}
