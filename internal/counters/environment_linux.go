package counters

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// facts is the table of what Environment reports, in its order.
var facts = []fact{
	{"system", system},
	{"kernel", kernel},
	{"cpu", cpuModel},
	{"cpus", cpus},
	{"hypervisor", hypervisor},
	{"memory", memory},
	{"governor", perCPU("cpufreq/scaling_governor")},
	{"clock source", func(root string) string {
		return line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource")
	}},
	{"preemption", preemption},
	{"tcp congestion", func(root string) string { return line(root, "proc/sys/net/ipv4/tcp_congestion_control") }},
	{"go", goVersion},
}

// line returns the first line of a small file, or "".
func line(root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}

func kernel(root string) string { return line(root, "proc/sys/kernel/osrelease") }

func cpuModel(root string) string {
	v, _ := field(root, "proc/cpuinfo", "model name")
	return v
}

// hypervisor names who runs this machine if it is virtual, by the CPU's
// "hypervisor" flag and the DMI product (both as the guest sees them).
func hypervisor(root string) string {
	if flags, ok := field(root, "proc/cpuinfo", "flags"); ok && !hasWord(flags, "hypervisor") {
		return ""
	} else if !ok {
		return ""
	}
	for _, name := range []string{"sys/hypervisor/type", "sys/class/dmi/id/sys_vendor"} {
		if v := line(root, name); v != "" {
			return v
		}
	}
	return "yes (unnamed)"
}

func memory(root string) string {
	v, ok := field(root, "proc/meminfo", "MemTotal")
	kib, err := strconv.ParseInt(strings.TrimSuffix(v, " kB"), 10, 64)
	if !ok || err != nil {
		return ""
	}
	return strconv.FormatInt(kib>>10, 10) + " MiB"
}

// preemption is the model that the kernel names in its version string.
func preemption(root string) string {
	for _, w := range strings.Fields(line(root, "proc/sys/kernel/version")) {
		if strings.HasPrefix(w, "PREEMPT") {
			return w
		}
	}
	return ""
}

// field returns the value of the first "name : value" line of a file.
func field(root, name, key string) (string, bool) {
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		return "", false
	}
	defer f.Close()
	return findField(f, key)
}

func findField(r io.Reader, key string) (string, bool) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		k, v, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

func hasWord(s, word string) bool {
	return slices.Contains(strings.Fields(s), word)
}
