package feature

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys/uring"
)

// uringTime is how long the kernel may take for an operation that need not
// wait for anything.
const uringTime = time.Second

// tryURing receives a byte in the way that takes the newest kernel of what the
// methods over io_uring do: into a buffer of a pool, with an operation that
// goes on.
func tryURing() *Error {
	return onRing("set up an io_uring and receive from a socket pair", "Linux 6.0", func(r *uring.Ring) error {
		if err := supported(r, uring.OpSend, uring.OpRecv, uring.OpAsyncCancel); err != nil {
			return err
		}
		pool, err := r.Provide(1, 1)
		if err != nil {
			return err
		}
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fds[0])
		defer unix.Close(fds[1])
		if _, err := unix.Write(fds[0], []byte{1}); err != nil {
			return err
		}
		r.Next().RecvAll(fds[1], pool, 0)
		errno, err := oneResult(r)
		if err == nil && errno != 0 {
			err = fmt.Errorf("IORING_RECV_MULTISHOT: %w", errno)
		}
		return err
	})
}

// tryURingSendZC sends to nowhere: a kernel that knows the operation, and can
// tell what it copied, finds that the socket is not connected.
func tryURingSendZC() *Error {
	return onRing("send without copying through an io_uring, and be told what was copied", "Linux 6.2", func(r *uring.Ring) error {
		if err := supported(r, uring.OpSendZC); err != nil {
			return err
		}
		buffers, err := r.Buffers(1, 1, true)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		r.Next().SendZC(fd, buffers[0], 0, 0)
		errno, err := oneResult(r)
		if err == nil && errno != unix.EDESTADDRREQ {
			err = fmt.Errorf("IORING_OP_SEND_ZC with IORING_SEND_ZC_REPORT_USAGE: %w", errno)
		}
		return err
	})
}

// onRing tries something with a ring on a thread of its own.
func onRing(tried, kernel string, try func(*uring.Ring) error) *Error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := uring.New(uring.Options{Entries: 1})
	if err == nil {
		err = errors.Join(try(r), r.Close())
	}
	if err == nil {
		return nil
	}
	need, advice := uringHint(err, kernel, readSysctl)
	return &Error{Tried: tried, Need: need, Advice: advice, Err: err}
}

func supported(r *uring.Ring, ops ...uring.Op) error {
	ok, err := r.Supports(ops...)
	if err == nil && !ok {
		err = fmt.Errorf("io_uring lacks one of the operations %d: %w", ops, errors.ErrUnsupported)
	}
	return err
}

// oneResult hands an operation over and waits for its first completion.
func oneResult(r *uring.Ring) (unix.Errno, error) {
	for until := time.Now().Add(uringTime); ; {
		errno := r.Enter(1, int64(uringTime))
		if c := r.Peek(); c != nil {
			res := c.Res
			r.Seen()
			return unix.Errno(max(0, -res)), nil
		}
		if errno != unix.EINTR && errno != unix.ETIME || time.Now().After(until) { // signals end waits
			return 0, fmt.Errorf("wait for an operation of io_uring (io_uring_enter): %w", errno)
		}
	}
}

// uringHint finds what withholds io_uring. kernel is the version that has all
// that was tried.
func uringHint(err error, kernel string, sysctl func(name string) string) (need, advice string) {
	const disabled = "kernel.io_uring_disabled"
	switch value := sysctl(disabled); {
	case errors.Is(err, unix.EPERM) && value == "2":
		return disabled + "=0, it is 2: nobody may use io_uring", "sysctl -w " + disabled + "=0"
	case errors.Is(err, unix.EPERM) && value == "1":
		return "CAP_SYS_ADMIN or the group in kernel.io_uring_group, since " + disabled + " is 1",
			"run as root, or sysctl -w " + disabled + "=0"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return "leave to use io_uring: a seccomp filter or a security module withholds it", "if this is a container, run outside of it or with a seccomp profile that has io_uring_setup, io_uring_enter and io_uring_register"
	case errors.Is(err, unix.ENOSYS):
		return kernel + " with CONFIG_IO_URING and no seccomp filter that hides it", "if this is a container, run outside of it"
	case errors.Is(err, unix.ENOMEM):
		return "memory that may be locked: RLIMIT_MEMLOCK is too small", "raise the limit: ulimit -l unlimited"
	}
	return kernel, ""
}
