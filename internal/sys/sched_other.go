//go:build !linux

package sys

import "fmt"

// SetFIFO reports that threads have no priority here.
func SetFIFO(priority int) error {
	return needsLinux(fmt.Sprintf("run a thread under SCHED_FIFO at priority %d", priority))
}
