package sys

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil sleeps until t, in nanoseconds as Nanotime has them, with
// clock_nanosleep(2) to an absolute time: what runs before it does not make it
// later. A signal may end it early, and a time that is past does so at once.
//
//go:nosplit
func SleepUntil(t int64) {
	at := unix.NsecToTimespec(t)
	syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&at)), 0, 0, 0)
}

// PreciseTimers has the kernel end the calling thread's sleeps when they are
// over, rather than up to 50 us later together with other timers
// (PR_SET_TIMERSLACK of prctl(2)). Threads of a real-time class have that
// anyway. The caller is locked to its thread.
func PreciseTimers() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set a thread's timer slack to 1 ns (prctl PR_SET_TIMERSLACK): %w", err)
	}
	return nil
}
