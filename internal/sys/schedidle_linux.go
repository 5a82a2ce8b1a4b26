package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// idleNice is the nice value of a thread of the class SCHED_IDLE. It changes
// nothing about when the thread runs, but /proc/stat counts as "nice" the time
// of threads whose value is above 0 alone, whatever their class
// (account_user_time in kernel/sched/cputime.c): of one at 0 the time would be
// among the user time of all others.
const idleNice = 19

// SetIdle puts the calling thread, to which its goroutine is locked, into the
// class SCHED_IDLE (sched(7)) with a nice value of 19: it runs when no thread
// of another class wants its CPU, but for about 0.3% of the time, and gives way
// as soon as one does. It takes no privilege, and there may be no way back
// without one.
//
// The class ranks a thread within its control group only: among threads of
// other groups, or of other sessions where the kernel.sched_autogroup_enabled
// sysctl is on, it has the share of its group.
func SetIdle() error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, idleNice); err != nil {
		return fmt.Errorf("give a thread the nice value %d (setpriority): %w", idleNice, err)
	}
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: idleNice}
	if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
		return fmt.Errorf("run a thread under SCHED_IDLE (sched_setattr): %w", err)
	}
	return nil
}

// A thread's clock has a number that is made from the thread's
// (include/linux/posix-timers_types.h).
const (
	clockSched     = 2 // what the scheduler counts, to the nanosecond
	clockPerThread = 4
)

// ThreadTime is the CPU time in nanoseconds that a thread of this process has
// had so far, by the scheduler's exact count (clock_gettime(2), as
// pthread_getcpuclockid(3) has it). The thread may be running. Whether it has
// what interrupts took while the thread ran depends on how the kernel was
// built.
func ThreadTime(tid int) (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^tid)<<3|clockPerThread|clockSched, &t); err != nil {
		return 0, fmt.Errorf("read the CPU time of thread %d (clock_gettime): %w", tid, err)
	}
	return t.Nano(), nil
}
