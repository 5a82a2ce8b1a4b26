package sys

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Epoll is a set of descriptors that one thread waits for (epoll(7)).
type Epoll int

// NewEpoll makes an empty set. Children don't inherit it.
func NewEpoll() (Epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make an epoll set (epoll_create1): %w", err)
	}
	return Epoll(fd), nil
}

// Add has the set tell of events (EPOLL values) of a descriptor. Each event
// then carries index, 0 and up, in Fd, and the descriptor in Pad.
func (e Epoll) Add(fd, index int, events uint32) error {
	return e.control(unix.EPOLL_CTL_ADD, fd, index, events)
}

// Change sets the events of a descriptor that is in the set. What is ready at
// this moment is told of once more, also with EPOLLET.
func (e Epoll) Change(fd, index int, events uint32) error {
	return e.control(unix.EPOLL_CTL_MOD, fd, index, events)
}

func (e Epoll) control(op, fd, index int, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(index), Pad: int32(fd)}
	if err := unix.EpollCtl(int(e), op, fd, &event); err != nil {
		return fmt.Errorf("put a descriptor into an epoll set (epoll_ctl): %w", err)
	}
	return nil
}

// Wait is epoll_wait(2): it waits at most so many milliseconds, and returns how
// many of the events, of which there must be room for one or more, it has
// filled in. Like Sock's methods it has no stack check.
//
//go:nosplit
func (e Epoll) Wait(events []unix.EpollEvent, milliseconds int) (int, unix.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(e), uintptr(unsafe.Pointer(unsafe.SliceData(events))),
		uintptr(len(events)), uintptr(milliseconds), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// Close gives up the set, but not the descriptors in it.
func (e Epoll) Close() error {
	if err := unix.Close(int(e)); err != nil {
		return fmt.Errorf("close an epoll set: %w", err)
	}
	return nil
}
