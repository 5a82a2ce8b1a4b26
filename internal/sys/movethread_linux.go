package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// MoveThread lets the calling thread, to which its goroutine is locked, run on
// those CPUs only, and has it run there when it returns (sched_setaffinity(2)).
func MoveThread(cpus ...int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("move a thread to CPUs %s (sched_setaffinity): %w", ranges(cpus), err)
	}
	return nil
}
