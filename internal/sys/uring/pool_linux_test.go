package uring

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

func newPool(t *testing.T, r *Ring, n, size int) *Pool {
	t.Helper()
	p, err := r.Provide(n, size)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPoolSizes(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	for _, c := range [][2]int{{0, 1}, {3, 1}, {-4, 1}, {1, 0}, {1, -1}, {2 * maxPool, 1}, {2, maxMemory}, {1, maxMemory + 1}} {
		if _, err := r.Provide(c[0], c[1]); err == nil {
			t.Errorf("a pool of %d buffers of %d bytes", c[0], c[1])
		}
		if _, err := r.Buffers(c[0], c[1], false); err == nil && c[0] != 3 && c[0] != 2*maxPool {
			t.Errorf("%d buffers of %d bytes", c[0], c[1])
		}
	}
	for _, n := range []int{1, 2, 512} {
		newPool(t, r, n, 1)
	}
}

// TestPoolGoesRound receives many more messages than the pool has buffers, in
// order, each into a buffer that is free.
func TestPoolGoesRound(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		r := newRing(t, Options{Entries: 4})
		pool := newPool(t, r, n, 16)
		a, b := socketpair(t, unix.SOCK_DGRAM)
		var message [8]byte
		armed, next := false, uint64(0)
		for sent := uint64(0); next < 300; {
			for range int(sent)%n + 1 {
				binary.NativeEndian.PutUint64(message[:], sent)
				if _, err := unix.Write(a, message[:]); err != nil {
					t.Fatal(err)
				}
				sent++
			}
			for next < sent {
				if !armed {
					r.Next().RecvAll(b, pool, 5)
					armed = true
				}
				if r.Ready() == 0 {
					enter(t, r, 1)
				}
				c := take(t, r)
				armed = c.More()
				id, filled := c.Buffer()
				if !filled {
					if c.Res != -int32(unix.ENOBUFS) || armed {
						t.Fatalf("completion %+v", c)
					}
					continue
				}
				if got := binary.NativeEndian.Uint64(pool.Buffer(id)); got != next || c.Res != 8 {
					t.Fatalf("message %d of %d bytes, want number %d", got, c.Res, next)
				}
				pool.Give(id)
				next++
			}
		}
	}
}

// TestEmptyPool keeps the buffers: what comes then stays in the socket.
func TestEmptyPool(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	pool := newPool(t, r, 2, 16)
	a, b := socketpair(t, unix.SOCK_DGRAM)
	for i := range byte(3) {
		if _, err := unix.Write(a, []byte{i}); err != nil {
			t.Fatal(err)
		}
	}
	r.Next().RecvAll(b, pool, 0)
	enter(t, r, 3)
	for i := range byte(2) {
		c := take(t, r)
		if id, filled := c.Buffer(); !filled || !c.More() || pool.Buffer(id)[0] != i {
			t.Errorf("completion %+v", c)
		}
	}
	if c := take(t, r); c.Res != -int32(unix.ENOBUFS) || c.More() {
		t.Fatalf("completion %+v, want ENOBUFS", c)
	}
	pool.Give(1)
	r.Next().RecvAll(b, pool, 0)
	enter(t, r, 1)
	c := take(t, r)
	if id, filled := c.Buffer(); !filled || id != 1 || pool.Buffer(1)[0] != 2 {
		t.Errorf("completion %+v: the third message did not come into the buffer given back", c)
	}
}

// TestStreamEnds has the other side close.
func TestStreamEnds(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	pool := newPool(t, r, 4, 16)
	a, b := socketpair(t, unix.SOCK_STREAM)
	if _, err := unix.Write(a, make([]byte, 24)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Shutdown(a, unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	r.Next().RecvAll(b, pool, 0)
	enter(t, r, 3)
	for _, want := range []int32{16, 8, 0} {
		if c := take(t, r); c.Res != want || c.More() != (want > 0) {
			t.Errorf("completion %+v, want %d bytes", c, want)
		}
	}
}

// TestZeroCopyOverLoopback sends without copying, which loopback does not do:
// each send has a notice, and it says that.
func TestZeroCopyOverLoopback(t *testing.T) {
	r := newRing(t, Options{Entries: 8})
	if ok, err := r.Supports(OpSendZC); !ok {
		skip(t, err, "no IORING_OP_SEND_ZC (Linux 6.0)")
	}
	buffers, err := r.Buffers(4, 1000, true)
	if err != nil {
		t.Fatal(err)
	}
	var fds [2]int
	for i := range fds {
		if fds[i], err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fds[i])
	}
	if err := unix.Bind(fds[1], &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	to, err := unix.Getsockname(fds[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fds[0], to); err != nil {
		skip(t, err) // loopback is down
	}
	for i, b := range buffers {
		r.Next().SendZC(fds[0], b, 0, uint64(i))
	}
	sent, notices := 0, 0
	for notices < len(buffers) {
		if r.Ready() == 0 {
			enter(t, r, 1)
		}
		c := take(t, r)
		switch notice, copied := c.Notice(); {
		case notice:
			notices++
			if !copied || c.More() {
				t.Errorf("notice %+v does not say that loopback copied", c)
			}
		case c.Res == -int32(unix.EINVAL):
			skip(t, "no IORING_SEND_ZC_REPORT_USAGE (Linux 6.2)")
		case c.Res != 1000 || !c.More():
			t.Fatalf("completion %+v", c)
		default:
			sent++
		}
	}
	if sent != notices || r.InFlight() != 0 {
		t.Errorf("%d sends, %d notices, %d in flight", sent, notices, r.InFlight())
	}
}
