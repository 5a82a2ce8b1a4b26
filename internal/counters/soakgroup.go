package counters

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sharesByGroup says whether the kernel divides the CPUs among groups of threads
// before it does so within them, this process being in one: a session's, where
// the kernel.sched_autogroup_enabled sysctl is on (sched(7)), or a control
// group's with a share of its own (cgroups(7)). A thread of idle priority then
// gives way to those of its own group only. Against all others, the kernel's
// own threads among them, it has its group's share.
func sharesByGroup(root string) bool {
	if on, err := os.ReadFile(filepath.Join(root, "proc/sys/kernel/sched_autogroup_enabled")); err == nil && strings.TrimSpace(string(on)) == "1" {
		return true
	}
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		// A hierarchy's number, its controllers, the process's group in it.
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[1] == "": // version 2: whoever has a share has this file
			if _, err := os.Stat(filepath.Join(root, "sys/fs/cgroup", f[2], "cpu.weight")); err == nil {
				return true
			}
		case slices.Contains(strings.Split(f[1], ","), "cpu") && f[2] != "/":
			return true
		}
	}
	return false
}
