//go:build linux || darwin || freebsd

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// CPUTime is the CPU time that all threads of this process have taken so far,
// those that have ended included, in its own code and in the kernel on its
// behalf, in nanoseconds (getrusage(2) RUSAGE_SELF). What interrupts took while
// it ran may be in it or not, as the kernel was built.
//
// On Linux the sum is exact, and its division into the two is that of samples
// taken at the kernel's ticks.
func CPUTime() (user, system int64, err error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0, fmt.Errorf("read the process's CPU time (getrusage): %w", err)
	}
	return u.Utime.Nano(), u.Stime.Nano(), nil
}
