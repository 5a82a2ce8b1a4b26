//go:build darwin || freebsd || (linux && portable)

package sys

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Send is send(2) on a connected socket. p must not be empty. flags are MSG_
// values. MSG_NOSIGNAL is left to Write.
func (s Sock) Send(p []byte, flags int) (int, unix.Errno) {
	if flags&^unix.MSG_NOSIGNAL == 0 {
		return s.Write(p)
	}
	n, err := unix.SendmsgN(int(s), p, nil, nil, flags)
	if err != nil {
		return -1, errnoOf(err)
	}
	return n, 0
}

// Write is write(2). p must not be empty. On a stream whose peer has gone it
// raises SIGPIPE, which Go's runtime takes and ignores (package os/signal).
func (s Sock) Write(p []byte) (int, unix.Errno) {
	n, err := unix.Write(int(s), p)
	return n, errnoOf(err)
}

// Recv is recv(2). p must not be empty. flags are MSG_ values; with others than
// MSG_DONTWAIT it allocates.
func (s Sock) Recv(p []byte, flags int) (int, unix.Errno) {
	if flags == unix.MSG_DONTWAIT {
		// Nobody else reads, so what is there stays there.
		ready, err := WaitReady(int(s), unix.POLLIN, 0)
		if err != nil {
			return -1, errnoOf(err)
		}
		if !ready {
			return -1, unix.EAGAIN
		}
		flags = 0
	}
	if flags == 0 { // then read(2) is the same
		n, err := unix.Read(int(s), p)
		return n, errnoOf(err)
	}
	n, _, err := unix.Recvfrom(int(s), p, flags)
	return n, errnoOf(err)
}

// errnoOf is the number in an error of package unix, 0 for nil.
func errnoOf(err error) unix.Errno {
	if err == nil {
		return 0
	}
	if errno, ok := err.(unix.Errno); ok {
		return errno
	}
	return unix.EINVAL // an argument that never came to the kernel
}

// Drops fails: only Linux counts what a socket dropped.
func (s Sock) Drops() (uint32, error) {
	return 0, fmt.Errorf("read a socket's drop counter: %s has none for one socket: %w", runtime.GOOS, errors.ErrUnsupported)
}
