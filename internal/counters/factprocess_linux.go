package counters

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// powers are the capabilities that a measurement can use, by the names of
// capabilities(7).
var powers = []struct {
	name  string
	value uint
}{
	{"net_admin", unix.CAP_NET_ADMIN}, {"net_raw", unix.CAP_NET_RAW}, {"sys_admin", unix.CAP_SYS_ADMIN}, {"sys_nice", unix.CAP_SYS_NICE},
	{"ipc_lock", unix.CAP_IPC_LOCK}, {"perfmon", unix.CAP_PERFMON}, {"bpf", unix.CAP_BPF},
}

// processFacts are what this process may do, and which services of the system
// move its interrupts about.
func processFacts(root string) []Fact {
	var all []Fact
	if live(root) {
		all = valued(
			Fact{Name: "user", Value: user()},
			Fact{Name: "capabilities", Value: capabilities()},
			Fact{Name: "memory that can be locked", Value: lockable()},
			Fact{Name: "exact idle time", Value: readable(filepath.Join(root, "proc/timer_list"))},
		)
	}
	if runsProgram(root, "irqbalance") {
		all = append(all, Fact{Name: "irqbalance", Value: "runs"})
	}
	return all
}

func user() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "ordinary"
}

func capabilities() string {
	var have []string
	for _, p := range powers {
		has, err := sys.HasCapability(p.value)
		if err != nil {
			return ""
		}
		if has {
			have = append(have, p.name)
		}
	}
	if len(have) == 0 {
		return "none"
	}
	return strings.Join(have, " ")
}

// lockable is RLIMIT_MEMLOCK, which mlockall(2) must keep to.
func lockable() string {
	var limit unix.Rlimit
	switch has, err := sys.HasCapability(unix.CAP_IPC_LOCK); {
	case err != nil:
		return ""
	case has:
		return "all"
	}
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return ""
	}
	if limit.Cur == unix.RLIM_INFINITY {
		return "all"
	}
	return strconv.FormatUint(limit.Cur>>10, 10) + " KiB"
}

func readable(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return "no"
	}
	f.Close()
	return "yes"
}

// runsProgram says whether a process of that name runs.
func runsProgram(root, name string) bool {
	all, err := filepath.Glob(filepath.Join(root, "proc/[0-9]*/comm"))
	if err != nil {
		return false
	}
	for _, comm := range all {
		if line(comm, "") == name {
			return true
		}
	}
	return false
}
