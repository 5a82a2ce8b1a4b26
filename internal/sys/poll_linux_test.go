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
	began := Nanotime()
	if events, errno := s.Poll(unix.POLLIN, int64(wait)); events != 0 || errno != 0 {
		t.Errorf("nothing to read: got %#x, %v", events, errno)
	}
	if took := Nanotime() - began; took < int64(wait) {
		t.Errorf("waited for %d ns, want %d or more", took, int64(wait))
	}
	if events, errno := s.Poll(unix.POLLIN|unix.POLLOUT, int64(time.Minute)); events != unix.POLLOUT || errno != 0 {
		t.Errorf("room to write: got %#x, %v", events, errno)
	}
	if _, errno := other.Write([]byte{1}); errno != 0 {
		t.Fatal(errno)
	}
	if events, errno := s.Poll(unix.POLLIN, int64(time.Minute)); events&unix.POLLIN == 0 || errno != 0 {
		t.Errorf("something to read: got %#x, %v", events, errno)
	}
	if allocated := testing.AllocsPerRun(10, func() { s.Poll(unix.POLLIN, 0) }); allocated != 0 {
		t.Errorf("%v objects are allocated by a call", allocated)
	}
}
