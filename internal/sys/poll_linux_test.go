package sys

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestPoll(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	s, other := Sock(fds[0]), Sock(fds[1])
	const wait = 3 * time.Millisecond
	// A signal of Go's runtime may end a wait: it is begun again.
	poll := func(events int16, limit time.Duration) (came int16, errno unix.Errno, took time.Duration) {
		for {
			began := Nanotime()
			if came, errno = s.Poll(events, int64(limit)); errno != unix.EINTR {
				return came, errno, time.Duration(Nanotime() - began)
			}
		}
	}
	if events, errno, took := poll(unix.POLLIN, wait); events != 0 || errno != 0 || took < wait {
		t.Errorf("nothing to read: got %#x, %v after %v, want nothing after %v", events, errno, took, wait)
	}
	if events, errno, _ := poll(unix.POLLIN|unix.POLLOUT, time.Minute); events != unix.POLLOUT || errno != 0 {
		t.Errorf("room to write: got %#x, %v", events, errno)
	}
	if _, errno := other.Write([]byte{1}); errno != 0 {
		t.Fatal(errno)
	}
	if events, errno, _ := poll(unix.POLLIN, time.Minute); events&unix.POLLIN == 0 || errno != 0 {
		t.Errorf("something to read: got %#x, %v", events, errno)
	}
	if allocated := testing.AllocsPerRun(10, func() { s.Poll(unix.POLLIN, 0) }); allocated != 0 {
		t.Errorf("%v objects are allocated by a call", allocated)
	}
}
