package netlab

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"netdelta/internal/sys"
)

// policies are the scheduling policies of a process's threads (proc(5), field 41 of
// stat), with how often each is there.
func policies(t *testing.T, pid int) map[string]int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, task := range tasks {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, task.Name()))
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		all[fields[41-3]]++
	}
	return all
}

func TestKeepAwake(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	a, err := KeepAwake(cpus)
	if err != nil {
		t.Fatal(err)
	}
	const idle = "5" // SCHED_IDLE
	if got := policies(t, a.cmd.Process.Pid)[idle]; got != len(cpus) {
		t.Errorf("%d threads of idle priority for %d CPUs", got, len(cpus))
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := KeepAwake([]int{1 << 20}); err == nil {
		t.Error("a CPU that there is not was kept awake")
	}
}
