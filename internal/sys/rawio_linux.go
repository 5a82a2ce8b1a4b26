package sys

// These functions are nosplit: the runtime marks every thread that has held
// its P for 10 ms, also one that waits in a raw call, and takes the P away at
// the next function prologue. Without a prologue there is nothing to catch it.

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read is read(2) without telling the scheduler. p must not be empty.
//
//go:nosplit
func Read(fd int, p []byte) (int, unix.Errno) {
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	return int(n), e
}

// Write is write(2) without telling the scheduler. p must not be empty.
//
//go:nosplit
func Write(fd int, p []byte) (int, unix.Errno) {
	n, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	return int(n), e
}

// TryRead is a read that returns EAGAIN rather than wait, on a descriptor
// that is otherwise blocking: preadv2(2) with RWF_NOWAIT at offset -1. A
// descriptor that cannot do this answers EOPNOTSUPP.
//
//go:nosplit
func TryRead(fd int, p []byte) (int, unix.Errno) {
	iov := unix.Iovec{Base: &p[0]}
	iov.SetLen(len(p))
	n, _, e := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, ^uintptr(0), ^uintptr(0), unix.RWF_NOWAIT)
	return int(n), e
}

// TryWrite is a write that returns EAGAIN rather than wait, on a descriptor
// that is otherwise blocking: pwritev2(2) with RWF_NOWAIT at offset -1. A
// descriptor that cannot do this answers EOPNOTSUPP.
//
//go:nosplit
func TryWrite(fd int, p []byte) (int, unix.Errno) {
	iov := unix.Iovec{Base: &p[0]}
	iov.SetLen(len(p))
	n, _, e := unix.RawSyscall6(unix.SYS_PWRITEV2, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, ^uintptr(0), ^uintptr(0), unix.RWF_NOWAIT)
	return int(n), e
}

// WaitWritable waits until a write may have room or fail, at most so many
// nanoseconds (ppoll(2)). It does not tell which.
//
//go:nosplit
func WaitWritable(fd int, nanoseconds int64) unix.Errno {
	poll := unix.PollFd{Fd: int32(fd), Events: unix.POLLOUT}
	timeout := unix.NsecToTimespec(nanoseconds)
	_, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	return e
}

// FutexWait sleeps while *addr is want, at most timeout (nil: for ever), as
// futex(2) FUTEX_WAIT on memory private to the process. It returns EAGAIN if
// the value has changed already, ETIMEDOUT after the timeout.
//
//go:nosplit
func FutexWait(addr *uint32, want uint32, timeout *unix.Timespec) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), futexWaitPrivate, uintptr(want), uintptr(unsafe.Pointer(timeout)), 0, 0)
	return e
}

// FutexWake wakes at most n sleepers on addr.
//
//go:nosplit
func FutexWake(addr *uint32, n int) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), futexWakePrivate, uintptr(n), 0, 0, 0)
	return e
}

// The operations of linux/futex.h with FUTEX_PRIVATE_FLAG (128).
const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)
