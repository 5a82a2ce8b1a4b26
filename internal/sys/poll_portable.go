//go:build darwin || freebsd || (linux && portable)

package sys

import (
	"time"

	"golang.org/x/sys/unix"
)

// maxSelect is the first descriptor that select(2) can't take (FD_SETSIZE).
const maxSelect = 1024

// Poll waits until the socket is ready for one of the events, POLLIN or
// POLLOUT, at most so many nanoseconds, 0 and up. It returns those that it is
// ready for; 0 when the time is over. select(2) counts microseconds; for a
// descriptor that it can't take poll(2) does it, which counts milliseconds.
// Both are rounded up.
func (s Sock) Poll(events int16, nanoseconds int64) (int16, unix.Errno) {
	if s >= maxSelect {
		ready, err := WaitReady(int(s), events, nanoseconds)
		if err != nil || !ready {
			return 0, errnoOf(err)
		}
		return events, 0
	}
	var in, out unix.FdSet
	if events&unix.POLLIN != 0 {
		in.Set(int(s))
	}
	if events&unix.POLLOUT != 0 {
		out.Set(int(s))
	}
	timeout := unix.NsecToTimeval((nanoseconds + int64(time.Microsecond) - 1) / int64(time.Microsecond) * int64(time.Microsecond))
	n, err := unix.Select(int(s)+1, &in, &out, nil, &timeout)
	if err != nil || n == 0 {
		return 0, errnoOf(err)
	}
	var ready int16
	if in.IsSet(int(s)) {
		ready |= unix.POLLIN
	}
	if out.IsSet(int(s)) {
		ready |= unix.POLLOUT
	}
	return ready, 0
}
