package sys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CheckCPU says whether this process may use a CPU, and if not which ones it
// may. NoCPU is always right.
func CheckCPU(cpu int) error {
	if cpu == NoCPU {
		return nil
	}
	cpus, err := OnlineCPUs()
	if err != nil || slices.Contains(cpus, cpu) {
		return err
	}
	return fmt.Errorf("there is no CPU %d for this process: it may use CPUs %s", cpu, ranges(cpus))
}

// ranges writes ascending numbers as "0-3,8".
func ranges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); i++ {
		first := numbers[i]
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		if b.WriteString(strconv.Itoa(first)); numbers[i] > first {
			fmt.Fprintf(&b, "-%d", numbers[i])
		}
	}
	return b.String()
}
