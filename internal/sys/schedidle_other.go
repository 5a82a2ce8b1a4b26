//go:build !linux

package sys

import "fmt"

// SetIdle reports that threads have no class here.
func SetIdle() error { return needsLinux("run a thread under SCHED_IDLE") }

// ThreadTime reports that threads' clocks are Linux's.
func ThreadTime(tid int) (int64, error) {
	return 0, needsLinux(fmt.Sprintf("read the CPU time of thread %d", tid))
}
