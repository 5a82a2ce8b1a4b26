package counters

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"netdelta/internal/sys"
)

// machineCPUs are the CPUs of the machine that are online, in ascending order
// (/proc/stat): what the network does for a process can happen on CPUs that the
// process itself may not use. Where the system does not tell them, they are
// those that this process may use, or nil.
func machineCPUs(root string) []int {
	var cpus []int
	text, err := os.ReadFile(filepath.Join(root, "proc/stat"))
	if err == nil {
		for line := range bytes.Lines(text) {
			name, _, _ := bytes.Cut(line, []byte(" "))
			if n, is := bytes.CutPrefix(name, []byte("cpu")); is && len(n) > 0 {
				if cpu, err := strconv.Atoi(string(n)); err == nil && cpu >= 0 {
					cpus = append(cpus, cpu)
				}
			}
		}
	}
	if len(cpus) > 0 {
		slices.Sort(cpus)
		return slices.Compact(cpus)
	}
	cpus, err = sys.OnlineCPUs()
	if err != nil {
		return nil
	}
	return cpus
}
