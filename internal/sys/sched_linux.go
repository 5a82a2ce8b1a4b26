package sys

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// SetFIFO puts the calling thread into the class SCHED_FIFO with a priority
// from 1 to 99 (sched(7)); the caller is locked to its thread. Threads and
// children that it starts are of the ordinary class again.
//
// Such a thread runs until it waits or one of a higher priority is ready. One
// that never waits keeps everything else from its CPU, an agent too, but for
// what the sysctl kernel.sched_rt_runtime_us leaves to others: 5% as the kernel
// starts. The error wraps fs.ErrPermission where the privilege is missing.
func SetFIFO(priority int) error {
	if priority < 1 || priority > 99 {
		return fmt.Errorf("priority %d of SCHED_FIFO is out of range: 1 to 99", priority)
	}
	attr := unix.SchedAttr{
		Size:     unix.SizeofSchedAttr,
		Policy:   unix.SCHED_FIFO,
		Flags:    unix.SCHED_FLAG_RESET_ON_FORK,
		Priority: uint32(priority),
	}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		advice := ""
		if errors.Is(err, unix.EPERM) {
			advice = fmt.Sprintf(" (it takes CAP_SYS_NICE, or an RLIMIT_RTPRIO of at least %d: ulimit -r)", priority)
		}
		return fmt.Errorf("run a thread under SCHED_FIFO at priority %d (sched_setattr): %w%s", priority, err, advice)
	}
	return nil
}
