//go:build darwin || freebsd || (linux && portable)

package sys

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Socket is socket(2), with a descriptor that children don't inherit.
func Socket(family, kind, protocol int) (int, error) {
	// No child may be started between the two calls.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(family, kind, protocol)
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	return fd, nil
}

// Accept is accept(2) on a listening socket whose wait is limited by its
// SO_RCVTIMEO (EAGAIN). The connection blocks, and children don't inherit it.
//
// Only Linux has accept heed SO_RCVTIMEO: here poll(2) waits that long, and the
// listener is made non-blocking, since the connection may have gone when it is
// accepted.
func Accept(listener int) (int, unix.Sockaddr, error) {
	limit, err := unix.GetsockoptTimeval(listener, unix.SOL_SOCKET, unix.SO_RCVTIMEO)
	if err != nil {
		return -1, nil, os.NewSyscallError("getsockopt SO_RCVTIMEO", err)
	}
	wait := limit.Nano()
	if wait == 0 {
		wait = int64(time.Hour) // for ever, nearly
	}
	switch ready, err := WaitReady(listener, unix.POLLIN, wait); {
	case err != nil:
		return -1, nil, err
	case !ready:
		return -1, nil, unix.EAGAIN
	}
	if err := unix.SetNonblock(listener, true); err != nil {
		return -1, nil, os.NewSyscallError("fcntl", err)
	}
	fd, from, err := unix.Accept(listener)
	if err != nil {
		return -1, nil, err
	}
	unix.CloseOnExec(fd)
	// On BSD systems a connection takes that over from its listener.
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return -1, nil, os.NewSyscallError("fcntl", err)
	}
	return fd, from, nil
}

// WaitReady waits until a descriptor is ready for one of the events (POLL
// values) or has failed, at most so many nanoseconds, and says whether it is.
// poll(2) counts milliseconds: they are rounded up. It may end early with
// EINTR.
func WaitReady(fd int, events int16, nanoseconds int64) (bool, error) {
	ms := (max(nanoseconds, 0) + int64(time.Millisecond) - 1) / int64(time.Millisecond)
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, int(min(ms, 1<<30)))
	return n == 1, err
}
