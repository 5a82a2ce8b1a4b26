package counters

import (
	"bytes"
	"fmt"
	"strconv"
)

// bits32 is the width of the kernel's counts of interrupts, softirqs and
// packets of a CPU, on every system: they wrap.
const bits32 = 32

// cpuColumns reads the header of /proc/interrupts and /proc/softirqs, "CPU0
// CPU2": which CPU each column is of. Those that are offline have none.
func cpuColumns(header []byte) ([]string, error) {
	var cpus []string
	for _, f := range bytes.Fields(header) {
		n, found := bytes.CutPrefix(f, []byte("CPU"))
		if _, err := strconv.Atoi(string(n)); !found || err != nil {
			return nil, fmt.Errorf("a column is headed %q", f[:min(len(f), 40)])
		}
		cpus = append(cpus, string(n))
	}
	return cpus, nil
}

// cpuCounts reads the counts at the beginning of a line, one for each column,
// and returns what comes after them. There may be fewer: some lines have one
// sum only.
func cpuCounts(line []byte, columns int) (counts []int64, rest []byte) {
	for len(counts) < columns {
		at := bytes.TrimLeft(line, " ")
		end := bytes.IndexAny(at, " \n")
		if end < 0 {
			end = len(at)
		}
		n, err := strconv.ParseUint(string(at[:end]), 10, 64)
		if err != nil {
			break
		}
		counts, line = append(counts, int64(n&(1<<bits32-1))), at[end:]
	}
	return counts, line
}
