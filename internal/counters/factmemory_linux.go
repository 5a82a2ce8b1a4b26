package counters

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryFacts are what of the machine's memory bears on figures.
func memoryFacts(root string) []Fact {
	return valued(
		Fact{Name: "numa nodes", Value: numaNodes(root)},
		Fact{Name: "numa balancing", Value: onOff(line(root, "proc/sys/kernel/numa_balancing"))},
		Fact{Name: "huge pages", Value: chosen(line(root, "sys/kernel/mm/transparent_hugepage/enabled"))},
		Fact{Name: "swap", Value: swap(root)},
	)
}

// numaNodes are the nodes with the CPUs of each, where there is more than one.
func numaNodes(root string) string {
	dirs, numbers := numbered(root, "sys/devices/system/node/node[0-9]*")
	if len(dirs) < 2 {
		return ""
	}
	var parts []string
	for i, dir := range dirs {
		parts = append(parts, fmt.Sprintf("%d: cpus %s", numbers[i], line(dir, "cpulist")))
	}
	return strings.Join(parts, "; ")
}

func onOff(value string) string {
	switch value {
	case "":
		return ""
	case "0":
		return "off"
	}
	return "on"
}

// swap says how much there is, and whether some of it is in use: how much
// that is changes by itself.
func swap(root string) string {
	total, ok := field(root, "proc/meminfo", "SwapTotal")
	free, ok2 := field(root, "proc/meminfo", "SwapFree")
	kib, err := strconv.ParseInt(strings.TrimSuffix(total, " kB"), 10, 64)
	switch {
	case !ok || !ok2 || err != nil:
		return ""
	case kib == 0:
		return "none"
	case total == free:
		return fmt.Sprintf("%d MiB, unused", kib>>10)
	}
	return fmt.Sprintf("%d MiB, in use", kib>>10)
}

// clockFacts say whether something keeps the machine's time (adjtimex(2)).
func clockFacts(root string) []Fact {
	if !live(root) {
		return nil
	}
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return nil
	}
	v := "yes"
	if t.Status&unix.STA_UNSYNC != 0 {
		v = "no"
	}
	return []Fact{{Name: "clock synchronised", Value: v}}
}
