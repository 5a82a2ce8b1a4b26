//go:build !portable

package sys

import (
	"golang.org/x/sys/unix"
)

// Socket is socket(2), with a descriptor that children don't inherit.
func Socket(family, kind, protocol int) (int, error) {
	return unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
}

// Accept is accept(2) on a listening socket whose wait is limited by its
// SO_RCVTIMEO (EAGAIN). The connection blocks, and children don't inherit it.
func Accept(listener int) (int, unix.Sockaddr, error) {
	return unix.Accept4(listener, unix.SOCK_CLOEXEC)
}

// WaitReady waits until a descriptor is ready for one of the events (POLL
// values) or has failed, at most so many nanoseconds, and says whether it is.
// It may end early with EINTR.
func WaitReady(fd int, events int16, nanoseconds int64) (bool, error) {
	timeout := unix.NsecToTimespec(max(nanoseconds, 0))
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: events}}, &timeout, nil)
	return n == 1, err
}
