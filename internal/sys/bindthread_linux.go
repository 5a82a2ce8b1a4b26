package sys

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// BindThread lets a thread, of whatever process or of the kernel, run on one CPU
// only, and reads that back (sched_setaffinity(2)). A thread of another user takes
// CAP_SYS_NICE in that one's user namespace; those of the kernel are the root's of
// the initial one. The error wraps fs.ErrPermission. That of a thread that has ended wraps unix.ESRCH.
func BindThread(tid, cpu int) error {
	var set, got unix.CPUSet
	set.Set(cpu)
	err := unix.SchedSetaffinity(tid, &set)
	if err == nil {
		err = unix.SchedGetaffinity(tid, &got)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("bind thread %d to CPU %d (sched_setaffinity): %w (a thread of another user takes CAP_SYS_NICE, and one of the kernel to be root or have that in the initial user namespace)", tid, cpu, err)
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("bind thread %d to CPU %d (sched_setaffinity): %w (the CPU is not there, or the thread cannot be moved)", tid, cpu, err)
	case err != nil:
		return fmt.Errorf("bind thread %d to CPU %d (sched_setaffinity): %w", tid, cpu, err)
	case got != set:
		return fmt.Errorf("thread %d may run on other CPUs after it was bound to CPU %d: the kernel ignored it", tid, cpu)
	}
	return nil
}
