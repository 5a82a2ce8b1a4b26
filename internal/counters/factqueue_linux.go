package counters

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// queueFacts are what sysfs has of the interface's queues, interrupts and
// NAPI. A mount of sysfs shows the interfaces of the namespace in which it was
// made: nothing is told of one that is another interface of the same name.
func queueFacts(root string, d net.Interface) []Fact {
	dir := filepath.Join(root, "sys/class/net", d.Name)
	if line(dir, "ifindex") != strconv.Itoa(d.Index) || line(dir, "address") != d.HardwareAddr.String() {
		return nil
	}
	return sysfsFacts(root, dir)
}

func sysfsFacts(root, dir string) []Fact {
	node := line(dir, "device/numa_node")
	if node == "-1" {
		node = ""
	}
	return valued(
		Fact{Name: "numa node", Value: node},
		Fact{Name: "irq cpus", Value: affinities(root, dir)},
		Fact{Name: "rps", Value: masks(dir, "queues/rx-[0-9]*", "rps_cpus")},
		Fact{Name: "rps flows", Value: masks(dir, "queues/rx-[0-9]*", "rps_flow_cnt")},
		Fact{Name: "xps", Value: masks(dir, "queues/tx-[0-9]*", "xps_cpus")},
		Fact{Name: "napi", Value: napi(dir)},
	)
}

// affinities are the CPUs of the interface's interrupt lines, in their order.
func affinities(root, dir string) string {
	device, err := filepath.EvalSymlinks(filepath.Join(dir, "device"))
	if err != nil {
		return ""
	}
	// A virtio device's lines are those of the PCI device that it is on.
	for _, at := range []string{device, filepath.Dir(device)} {
		all, err := os.ReadDir(filepath.Join(at, "msi_irqs"))
		if err != nil {
			continue
		}
		var numbers []int
		for _, e := range all {
			if n, err := strconv.Atoi(e.Name()); err == nil {
				numbers = append(numbers, n)
			}
		}
		slices.Sort(numbers)
		values := make([]string, len(numbers))
		for i, n := range numbers {
			values[i] = line(root, fmt.Sprintf("proc/irq/%d/smp_affinity_list", n))
		}
		return each(values)
	}
	return ""
}

// masks reads a setting of each queue, off where it is nothing.
func masks(dir, queues, name string) string {
	all, _ := numbered(dir, queues)
	values := make([]string, len(all))
	for i, queue := range all {
		if values[i] = line(queue, name); values[i] != "" && strings.Trim(values[i], "0,") == "" {
			values[i] = "off"
		}
	}
	return each(values)
}

// each is what all queues have, or what each does in its turn.
func each(values []string) string {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	if len(values) == 0 {
		return ""
	}
	if len(slices.Compact(slices.Clone(values))) == 1 {
		if len(values) == 1 {
			return values[0]
		}
		return fmt.Sprintf("%s on all %d", values[0], len(values))
	}
	return strings.Join(values, " ")
}

// napi is how the interface is polled (Documentation/networking/napi.rst).
func napi(dir string) string {
	var parts []string
	if line(dir, "threaded") == "1" {
		parts = append(parts, "threaded")
	}
	for _, name := range []string{"napi_defer_hard_irqs", "gro_flush_timeout"} {
		if v := line(dir, name); v != "" && v != "0" {
			parts = append(parts, name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}
