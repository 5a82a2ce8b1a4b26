package labtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Children lists the children of a process, zombies too.
func Children(parent int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		if _, ppid, ok := stat(pid); ok && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Alive reports whether a process is there and not a zombie, which an orphan
// stays until init looks for it.
func Alive(pid int) bool {
	state, _, ok := stat(pid)
	return ok && state != "Z" && state != "X"
}

// stat reads a process's state and parent.
func stat(pid int) (state string, ppid int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	return parseStat(string(text))
}

// parseStat finds state and parent in a /proc/PID/stat. The command before
// them stands in parentheses and may hold anything (proc_pid_stat(5)).
func parseStat(text string) (state string, ppid int, ok bool) {
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 2 {
		return "", 0, false
	}
	ppid, err := strconv.Atoi(f[1])
	if err != nil {
		return "", 0, false
	}
	return f[0], ppid, true
}
