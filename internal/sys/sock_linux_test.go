package sys_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

func TestSock(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := sys.Sock(fds[0]), sys.Sock(fds[1])
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	buf := make([]byte, 8)
	if _, errno := b.Recv(buf, unix.MSG_DONTWAIT); errno != unix.EAGAIN {
		t.Errorf("nothing was sent: error %v, want %v", errno, unix.EAGAIN)
	}
	if n, errno := a.Send([]byte("ping"), 0); n != 4 || errno != 0 {
		t.Errorf("sent %d, %v", n, errno)
	}
	if n, errno := b.Recv(buf, 0); n != 4 || errno != 0 || string(buf[:n]) != "ping" {
		t.Errorf("received %d, %v: %q", n, errno, buf)
	}
	if _, errno := sys.Sock(-1).Send(buf, 0); errno != unix.EBADF {
		t.Errorf("error %v, want %v", errno, unix.EBADF)
	}
	if n := testing.AllocsPerRun(100, func() {
		b.Recv(buf, unix.MSG_DONTWAIT)
		a.Send(buf, unix.MSG_DONTWAIT)
		a.Send(buf, 0)
		b.Recv(buf, 0)
		b.Recv(buf, unix.MSG_DONTWAIT)
	}); n != 0 {
		t.Errorf("%v objects are allocated for a message", n)
	}
}

// TestSockDrops sends more than a receive buffer holds.
func TestSockDrops(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 4096); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	self, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fd, self); err != nil {
		labtest.Skip(t, fmt.Errorf("loopback is down: %w", err))
	}
	s := sys.Sock(fd)
	if _, err := s.Drops(); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	const sent = 100
	for range sent {
		if _, errno := s.Send(make([]byte, 500), 0); errno != 0 {
			t.Fatal(errno)
		}
	}
	received := uint32(0)
	for {
		if _, errno := s.Recv(make([]byte, 500), unix.MSG_DONTWAIT); errno != 0 {
			break
		}
		received++
	}
	drops, err := s.Drops()
	if err != nil {
		t.Fatal(err)
	}
	if drops == 0 || received+drops != sent {
		t.Errorf("sent %d, received %d, dropped %d", sent, received, drops)
	}
	if _, err := sys.Sock(-1).Drops(); err == nil {
		t.Error("a descriptor that is none has a counter")
	}
}

func TestNanotime(t *testing.T) {
	start, began := sys.Nanotime(), time.Now()
	for range 1000 {
		before := sys.Nanotime()
		if now := sys.Nanotime(); now < before {
			t.Fatalf("went back from %d to %d", before, now)
		}
	}
	for time.Since(began) < time.Millisecond {
	}
	if d := time.Duration(sys.Nanotime() - start); d < time.Millisecond || d > time.Since(began)+time.Millisecond {
		t.Errorf("%v went by, want some 1ms", d)
	}
	if n := testing.AllocsPerRun(100, func() { sys.Nanotime() }); n != 0 {
		t.Errorf("%v objects are allocated for a reading", n)
	}
}

func BenchmarkNanotime(b *testing.B) {
	for b.Loop() {
		sys.Nanotime()
	}
}

func BenchmarkTimeSince(b *testing.B) {
	base := time.Now()
	for b.Loop() {
		time.Since(base)
	}
}
