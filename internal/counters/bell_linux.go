package counters

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bell wakes a thread that waits, from any other. The thread waits in the
// kernel (eventfd(2), ppoll(2)), which wakes it at once where it has a real-time
// priority. By a channel or a timer of Go's it would be woken by other threads,
// and those have none.
type bell struct{ fd int }

func newBell() (*bell, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make a descriptor to wake a thread by (eventfd): %w", err)
	}
	return &bell{fd}, nil
}

// ring wakes who waits, or will wait next.
func (b *bell) ring() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(b.fd, one[:]) // fails where it has been rung often enough
}

// wait returns when the bell was rung, or so much time is over, if that is above
// 0. It may return early.
func (b *bell) wait(d time.Duration) {
	var limit *unix.Timespec
	if d > 0 {
		t := unix.NsecToTimespec(int64(d))
		limit = &t
	}
	fds := []unix.PollFd{{Fd: int32(b.fd), Events: unix.POLLIN}}
	if n, err := unix.Ppoll(fds, limit, nil); err == nil && n > 0 {
		var count [8]byte
		_, _ = unix.Read(b.fd, count[:])
	}
}

func (b *bell) close() error { return unix.Close(b.fd) }
