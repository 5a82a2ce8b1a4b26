package sys

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// NAPIPrefix is how the names of the kernel threads begin that poll interfaces of
// that name; what follows is the instance's number (napi_kthread_create in
// net/core/dev.c).
func NAPIPrefix(device string) string { return "napi/" + device + "-" }

const (
	// kthreadd is the process number of the kernel threads' parent.
	kthreadd = 2
	// shownName is what kernels before 5.17 show of a thread's name, in bytes.
	shownName = 15
)

// NAPIThreads lists the kernel threads that poll interfaces of that name, in
// whatever namespace those are. seen is false where kernel threads are hidden:
// in a PID namespace, or by the mount option hidepid.
func NAPIThreads(device string) (pids []int, seen bool, err error) {
	if comm, err := commOf(kthreadd); err != nil || comm != "kthreadd" {
		return nil, false, nil
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, false, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, false, fmt.Errorf("list /proc: %w", err)
	}
	prefix := NAPIPrefix(device)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// An error is that of a process that has ended.
		comm, err := commOf(pid)
		if err == nil && (strings.HasPrefix(comm, prefix) || len(comm) == shownName && strings.HasPrefix(prefix, comm)) {
			pids = append(pids, pid)
		}
	}
	return pids, true, nil
}

// commOf is the name of a process or kernel thread (proc_pid_comm(5)).
func commOf(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSuffix(string(text), "\n"), err
}
