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

// listener makes a socket that listens on loopback, with a limit on its waits.
func listener(t *testing.T, wait time.Duration) (fd int, at unix.Sockaddr) {
	t.Helper()
	fd = tcpSocket(t)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		labtest.Skip(t, fmt.Errorf("loopback is down: %w", err))
	}
	limit := unix.NsecToTimeval(int64(wait))
	err := errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit), unix.Listen(fd, 1))
	if err != nil {
		t.Fatal(err)
	}
	if at, err = unix.Getsockname(fd); err != nil {
		t.Fatal(err)
	}
	return fd, at
}

func tcpSocket(t *testing.T) int {
	t.Helper()
	fd, err := sys.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// flags are those of a descriptor and of what it is open on.
func flags(t *testing.T, fd int) (descriptor, status int) {
	t.Helper()
	descriptor, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil {
		t.Fatal(err)
	}
	if status, err = unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil {
		t.Fatal(err)
	}
	return descriptor, status
}

// TestAccept waits in vain, and then for a connection.
func TestAccept(t *testing.T) {
	labtest.NoLeaks(t)
	const wait = 30 * time.Millisecond
	l, at := listener(t, wait)
	began := time.Now()
	// A signal may end the wait early.
	_, _, err := sys.Accept(l)
	for err == unix.EINTR {
		_, _, err = sys.Accept(l)
	}
	if took := time.Since(began); err != unix.EAGAIN || took < wait/2 {
		t.Errorf("error %v after %v, want %v after %v", err, took, unix.EAGAIN, wait)
	}
	caller := tcpSocket(t)
	if err := unix.Connect(caller, at); err != nil {
		t.Fatal(err)
	}
	conn, from, err := sys.Accept(l)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(conn)
	want, err := unix.Getsockname(caller)
	if err != nil {
		t.Fatal(err)
	}
	if from.(*unix.SockaddrInet4).Port != want.(*unix.SockaddrInet4).Port {
		t.Errorf("a connection from %v, want %v", from, want)
	}
	for name, fd := range map[string]int{"a socket": caller, "a connection": conn} {
		if descriptor, status := flags(t, fd); descriptor&unix.FD_CLOEXEC == 0 || status&unix.O_NONBLOCK != 0 {
			t.Errorf("%s has flags %#x and %#x: it must block, and children not inherit it", name, descriptor, status)
		}
	}
	if _, _, err := sys.Accept(-1); !errors.Is(err, unix.EBADF) {
		t.Errorf("error %v, want %v", err, unix.EBADF)
	}
	if _, err := sys.Socket(-1, 0, 0); err == nil {
		t.Error("a socket of no family")
	}
}

func TestWaitReady(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	for _, wait := range []time.Duration{-1, 0, time.Millisecond} {
		if ready, err := sys.WaitReady(fds[0], unix.POLLIN, int64(wait)); ready || err != nil && err != unix.EINTR {
			t.Errorf("nothing came within %v: ready %v, error %v", wait, ready, err)
		}
	}
	if ready, err := sys.WaitReady(fds[0], unix.POLLOUT, 0); !ready || err != nil {
		t.Errorf("there is room: ready %v, error %v", ready, err)
	}
	if _, err := unix.Write(fds[1], []byte("x")); err != nil {
		t.Fatal(err)
	}
	if ready, err := sys.WaitReady(fds[0], unix.POLLIN, int64(time.Second)); !ready || err != nil {
		t.Errorf("something came: ready %v, error %v", ready, err)
	}
}

func TestInterfaceIndex(t *testing.T) {
	fd := tcpSocket(t)
	if n, err := sys.InterfaceIndex(fd, "lo"); err != nil || n != 1 {
		t.Errorf("loopback is interface %d, %v", n, err)
	}
	for _, name := range []string{"none0", "a-name-of-more-than-15-bytes", ""} {
		if n, err := sys.InterfaceIndex(fd, name); err == nil {
			t.Errorf("interface %q is %d", name, n)
		}
	}
}
