package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Wait waits until one of the events (POLL values) is there or the socket has
// an error, something in its error queue included, at most so many nanoseconds
// (ppoll(2)). It tells whether that is so.
//
//go:nosplit
func (s Sock) Wait(events int16, nanoseconds int64) (bool, unix.Errno) {
	poll := unix.PollFd{Fd: int32(s), Events: events}
	timeout := unix.NsecToTimespec(nanoseconds)
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	return e == 0 && n == 1, e
}
