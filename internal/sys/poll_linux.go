//go:build !portable

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poll waits until the socket is ready for one of the events (POLL values of
// poll(2)), at most so many nanoseconds, 0 and up (ppoll(2)). It returns those
// that it is ready for, and POLLERR and POLLHUP unasked; 0 when the time is
// over. The time ends late by up to a thousandth of itself, and by the thread's
// timer slack (select_estimate_accuracy of fs/select.c).
//
//go:nosplit
func (s Sock) Poll(events int16, nanoseconds int64) (int16, unix.Errno) {
	poll := unix.PollFd{Fd: int32(s), Events: events}
	timeout := unix.NsecToTimespec(nanoseconds)
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	if e != 0 || n == 0 {
		return 0, e
	}
	return poll.Revents, 0
}
