package feature

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// tryZeroCopySend sets SO_ZEROCOPY of a socket of both protocols. A device, and
// loopback, may copy all the same: only the completions tell.
func tryZeroCopySend() *Error {
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
		fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1)
			unix.Close(fd)
		}
		if err != nil {
			return &Error{Tried: "set SO_ZEROCOPY of a TCP and a UDP socket", Need: "Linux 5.0 or later", Err: err}
		}
	}
	return nil
}

// tryZeroCopyReceive maps a TCP socket without a connection, which has nothing
// to receive.
func tryZeroCopyReceive() *Error {
	failed := func(err error) *Error {
		return &Error{Tried: "map a TCP socket and receive by TCP_ZEROCOPY_RECEIVE", Need: "Linux 5.11 or later", Err: err}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	r, err := sys.NewZeroCopyReceiver(sys.Sock(fd), unix.Getpagesize())
	if err != nil {
		return failed(err)
	}
	defer r.Close()
	// EIO is the end of a stream.
	if _, _, _, errno := r.Receive(); errno != 0 && errno != unix.EIO {
		return failed(errno)
	}
	return nil
}
