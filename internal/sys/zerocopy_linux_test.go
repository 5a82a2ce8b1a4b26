package sys_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// tcpPair makes a TCP connection over loopback.
func tcpPair(t *testing.T, family int) (a, b sys.Sock) {
	t.Helper()
	var self unix.Sockaddr = &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if family == unix.AF_INET6 {
		self = &unix.SockaddrInet6{Addr: [16]byte{15: 1}}
	}
	var fds [2]int
	for i := range fds {
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		fds[i] = fd
	}
	err := unix.Bind(fds[0], self)
	if err == nil {
		err = unix.Listen(fds[0], 1)
	}
	if err == nil {
		self, err = unix.Getsockname(fds[0])
	}
	if err == nil {
		err = unix.Connect(fds[1], self)
	}
	if err != nil {
		labtest.Skip(t, fmt.Errorf("connect over loopback: %w", err))
	}
	fd, _, err := unix.Accept4(fds[0], unix.SOCK_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return sys.Sock(fds[1]), sys.Sock(fd)
}

func TestZeroCopySend(t *testing.T) {
	labtest.Need(t, feature.ZeroCopySend)
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		a, b := tcpPair(t, family)
		if err := unix.SetsockoptInt(int(a), unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
			t.Fatal(err)
		}
		var r sys.ZeroCopyRange
		if ok, errno := a.ZeroCopyDone(&r); ok || errno != unix.EAGAIN {
			t.Errorf("before any send: %v, %v, want %v", ok, errno, unix.EAGAIN)
		}
		buf := make([]byte, 10_000)
		const sends = 5
		for range sends {
			if n, errno := a.Send(buf, unix.MSG_ZEROCOPY); n != len(buf) || errno != 0 {
				t.Fatalf("sent %d, %v", n, errno)
			}
			for got := 0; got < len(buf); {
				n, errno := b.Recv(buf, 0)
				if errno != 0 {
					t.Fatal(errno)
				}
				got += n
			}
		}
		for next := uint32(0); next < sends; {
			if ready, errno := waited(a, 0, 5*time.Second); !ready {
				t.Fatalf("after %d, no more reports: %v", next, errno)
			}
			ok, errno := a.ZeroCopyDone(&r)
			if errno == unix.EAGAIN {
				continue
			}
			if !ok || errno != 0 || r.First != next || r.Last < r.First || r.Last >= sends || r.Count() != r.Last-r.First+1 {
				t.Fatalf("after %d: %+v, %v, %v", next, r, ok, errno)
			}
			if !r.Copied {
				t.Error("loopback did not copy")
			}
			next = r.Last + 1
		}
		if n := testing.AllocsPerRun(100, func() { a.ZeroCopyDone(&r); a.Wait(0, 0) }); n != 0 {
			t.Errorf("%v objects are allocated for a call", n)
		}
	}
}

func TestWait(t *testing.T) {
	a, b := streamPair(t)
	if ready, errno := waited(a, unix.POLLIN, time.Millisecond); ready || errno != 0 {
		t.Errorf("nothing was sent: %v, %v", ready, errno)
	}
	b.Write([]byte("x"))
	if ready, errno := waited(a, unix.POLLIN, 5*time.Second); !ready || errno != 0 {
		t.Errorf("something was sent: %v, %v", ready, errno)
	}
}

// waited waits again when a signal of Go's runtime ended the wait.
func waited(s sys.Sock, events int16, limit time.Duration) (ready bool, errno unix.Errno) {
	for {
		if ready, errno = s.Wait(events, int64(limit)); errno != unix.EINTR {
			return ready, errno
		}
	}
}

func TestDiscard(t *testing.T) {
	a, b := tcpPair(t, unix.AF_INET)
	buf := make([]byte, 100)
	if n, errno := a.Send(append(bytes.Repeat([]byte("a"), 50), 'z'), 0); n != 51 || errno != 0 {
		t.Fatalf("sent %d, %v", n, errno)
	}
	if n, errno := b.Discard(50); n != 50 || errno != 0 {
		t.Errorf("discarded %d, %v, want 50", n, errno)
	}
	if n, errno := b.Recv(buf, 0); n != 1 || errno != 0 || buf[0] != 'z' {
		t.Errorf("then %q came, %v", buf[:max(n, 0)], errno)
	}
}

// TestZeroCopyReceive takes a message of pages, and a short one, and looks at
// what came where. It is for the path to say how much is mapped.
func TestZeroCopyReceive(t *testing.T) {
	labtest.Need(t, feature.ZeroCopyReceive, feature.ZeroCopySend)
	a, b := tcpPair(t, unix.AF_INET)
	page := unix.Getpagesize()
	if err := unix.SetsockoptInt(int(a), unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
		t.Fatal(err)
	}
	r, err := sys.NewZeroCopyReceiver(b, 16*page)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if mapped, copied, skip, errno := r.Receive(); mapped != 0 || copied != 0 || skip != 0 || errno != 0 {
		t.Errorf("before anything was sent: %d mapped, %d copied, %d to skip, %v", mapped, copied, skip, errno)
	}
	total := 0
	for _, size := range []int{8 * page, 10, 3*page + 7} {
		message := make([]byte, size)
		for i := range message {
			message[i] = byte(i * 7 / 3)
		}
		if n, errno := a.Send(message, unix.MSG_ZEROCOPY); n != size || errno != 0 {
			t.Fatalf("sent %d, %v", n, errno)
		}
		var got []byte
		buf := make([]byte, size)
		for len(got) < size {
			if ready, errno := b.Wait(unix.POLLIN, int64(5*time.Second)); !ready {
				t.Fatalf("%d of %d bytes came: %v", len(got), size, errno)
			}
			mapped, copied, skip, errno := r.Receive()
			if errno != 0 || mapped%page != 0 {
				t.Fatalf("%d mapped, %d copied, %d to skip, %v", mapped, copied, skip, errno)
			}
			total += mapped
			got = append(append(got, r.Mapping()[:mapped]...), r.Rest()[:copied]...)
			if skip > 0 {
				n, errno := b.Recv(buf[:min(skip, len(buf))], 0)
				if errno != 0 {
					t.Fatal(errno)
				}
				got = append(got, buf[:n]...)
			}
		}
		if !bytes.Equal(got, message) {
			t.Errorf("a message of %d bytes came as something else of %d", size, len(got))
		}
	}
	t.Logf("%d bytes were mapped", total)
	if n := testing.AllocsPerRun(100, func() { r.Receive() }); n != 0 {
		t.Errorf("%v objects are allocated for a call", n)
	}
	unix.Shutdown(int(a), unix.SHUT_WR)
	if n, errno := b.Recv(make([]byte, 1), 0); n != 0 || errno != 0 {
		t.Errorf("at the end, %d bytes, %v", n, errno)
	}
	if _, _, _, errno := r.Receive(); errno != unix.EIO {
		t.Errorf("after the end: error %v, want %v", errno, unix.EIO)
	}
	if _, err := sys.NewZeroCopyReceiver(-1, page); err != unix.EBADF {
		t.Errorf("no socket: error %v", err)
	}
}
