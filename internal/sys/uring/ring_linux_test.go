package uring

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const second = int64(time.Second)

// newRing is a ring of the calling thread; the test is skipped where there are
// none, and fails where all tests are required.
func newRing(t *testing.T, o Options) *Ring {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r, err := New(o)
	if err != nil {
		skip(t, err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// skip skips the test for a reason that lies in the system, or fails it where
// all tests are required: see package labtest, which stands above this one.
func skip(t *testing.T, reason ...any) {
	t.Helper()
	if os.Getenv("NETDELTA_TEST_REQUIRE") == "all" {
		t.Fatal(reason...)
	}
	t.Skip(reason...)
}

func socketpair(t *testing.T, kind int) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// enter hands over and waits for so many completions, which must come.
func enter(t *testing.T, r *Ring, wait int) {
	t.Helper()
	errno := r.Enter(wait, 10*second)
	for until := time.Now().Add(10 * time.Second); errno != 0 && time.Now().Before(until); {
		errno = r.Enter(wait, 10*second) // a signal of Go's runtime came
	}
	if errno != 0 {
		t.Fatalf("Enter for %d completions: %v", wait, errno)
	}
}

// take reads a completion that must be there.
func take(t *testing.T, r *Ring) CQE {
	t.Helper()
	c := r.Peek()
	if c == nil {
		t.Fatal("no completion")
	}
	taken := *c
	r.Seen()
	return taken
}

// setupKinds runs a test with each way to set a ring up that this kernel has.
func setupKinds(t *testing.T, f func(t *testing.T)) {
	all := setups
	defer func() { setups = all }()
	for i, name := range []string{"deferred", "cooperative", "plain"} {
		setups = all[i : i+1]
		t.Run(name, f)
	}
}

// TestQueuesWrap pushes far more operations than the queues have places, in
// batches of all sizes.
func TestQueuesWrap(t *testing.T) {
	setupKinds(t, func(t *testing.T) {
		r := newRing(t, Options{Entries: 4})
		var pushed, read uint64
		for round := range 200 {
			n := round%4 + 1
			for range n {
				r.Next().Nop(pushed)
				pushed++
			}
			enter(t, r, n)
			for range n {
				if c := take(t, r); c.Data != read || c.Res != 0 || c.More() {
					t.Fatalf("completion %+v, want number %d", c, read)
				}
				read++
			}
			if r.Peek() != nil || r.InFlight() != 0 {
				t.Fatalf("%d completions and %d operations are left", r.Ready(), r.InFlight())
			}
		}
	})
}

func TestQueueFull(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	for i := range 4 {
		if r.Next() == nil {
			t.Fatalf("no room for operation %d", i)
		}
	}
	if r.Next() != nil {
		t.Error("a fifth operation fits into a queue of four")
	}
	if n := r.Withdraw(); n != 4 || r.Withdraw() != 0 {
		t.Errorf("%d withdrawn, want 4 and then none", n)
	}
	if errno := r.Enter(0, 0); errno != 0 || r.InFlight() != 0 || r.Ready() != 0 {
		t.Errorf("%v, %d in flight after all was withdrawn", errno, r.InFlight())
	}
}

// TestMoreCompletionsThanRoom leaves more unread than the queue keeps.
func TestMoreCompletionsThanRoom(t *testing.T) {
	r := newRing(t, Options{Entries: 4, Completions: 4})
	const n = 12
	for i := range uint64(n) {
		r.Next().Nop(i)
		enter(t, r, 0)
	}
	for i := range uint64(n) {
		if r.Ready() == 0 {
			enter(t, r, 1)
		}
		if c := take(t, r); c.Data != i {
			t.Fatalf("completion %d, want %d", c.Data, i)
		}
	}
}

func TestTimeout(t *testing.T) {
	setupKinds(t, func(t *testing.T) {
		r := newRing(t, Options{Entries: 4})
		a, b := socketpair(t, unix.SOCK_STREAM)
		const limit = 5 * time.Millisecond
		for _, push := range []bool{false, true} { // a call that only waits, and one that hands over too
			if push {
				r.Next().Recv(a, make([]byte, 8), 0, 1)
			}
			began := time.Now()
			for time.Since(began) < limit { // signals of Go's runtime end waits early
				if errno := r.Enter(1, int64(limit)); errno != unix.ETIME && errno != unix.EINTR {
					t.Fatalf("got %v, want ETIME", errno)
				}
			}
		}
		if r.InFlight() != 1 {
			t.Fatalf("%d in flight, want 1", r.InFlight())
		}
		if _, err := unix.Write(b, []byte("late")); err != nil {
			t.Fatal(err)
		}
		enter(t, r, 1)
		if c := take(t, r); c.Res != 4 || c.Data != 1 {
			t.Errorf("completion %+v", c)
		}
	})
}

func TestSendAndReceive(t *testing.T) {
	setupKinds(t, func(t *testing.T) {
		r := newRing(t, Options{Entries: 8})
		buffers, err := r.Buffers(2, 100, false)
		if err != nil {
			t.Fatal(err)
		}
		a, b := socketpair(t, unix.SOCK_DGRAM)
		r.Next().Send(a, buffers[0], 0, 1)
		r.Next().Recv(b, buffers[1], 0, 2)
		clear(buffers[1])
		enter(t, r, 2)
		for range 2 {
			if c := take(t, r); c.Res != 100 {
				t.Errorf("completion %+v", c)
			}
		}
		if !bytes.Equal(buffers[0], buffers[1]) {
			t.Error("something else came")
		}
	})
}

// TestChain has the kernel keep the order of linked sends, and cut the chain
// behind one that fails.
func TestChain(t *testing.T) {
	r := newRing(t, Options{Entries: 8})
	a, b := socketpair(t, unix.SOCK_DGRAM)
	sent := [][]byte{{1}, {2}, make([]byte, 1<<20), {4}} // the third is over SO_SNDBUF
	for i, p := range sent {
		s := r.Next()
		if s.Send(a, p, 0, uint64(i)); i < len(sent)-1 {
			s.Link()
		}
	}
	enter(t, r, len(sent))
	for i, want := range []int32{1, 1, -int32(unix.EMSGSIZE), -int32(unix.ECANCELED)} {
		if c := take(t, r); c.Data != uint64(i) || c.Res != want {
			t.Errorf("completion %+v, want result %d of operation %d", c, want, i)
		}
	}
	for want := byte(1); want <= 2; want++ {
		var got [8]byte
		if n, err := unix.Read(b, got[:]); n != 1 || err != nil || got[0] != want {
			t.Errorf("received %d (%d, %v), want %d", got[0], n, err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	r := newRing(t, Options{Entries: 8})
	a, _ := socketpair(t, unix.SOCK_STREAM)
	for i := range uint64(3) {
		r.Next().Recv(a, make([]byte, 8), 0, i)
	}
	if errno := r.Enter(0, 0); errno != 0 || r.InFlight() != 3 {
		t.Fatalf("%v, %d in flight", errno, r.InFlight())
	}
	const self = 99
	r.Next().CancelAll(self)
	enter(t, r, 4)
	for range 4 {
		if c := take(t, r); c.Data != self && c.Res != -int32(unix.ECANCELED) || c.Data == self && c.Res != 3 {
			t.Errorf("completion %+v", c)
		}
	}
}

// TestCloseLetsGo closes a ring with an operation in flight: its socket must
// be nobody's afterwards.
func TestCloseLetsGo(t *testing.T) {
	setupKinds(t, func(t *testing.T) {
		r := newRing(t, Options{Entries: 8})
		a, b := socketpair(t, unix.SOCK_STREAM)
		r.Next().Recv(a, make([]byte, 8), 0, 0)
		if errno := r.Enter(0, 0); errno != 0 {
			t.Fatal(errno)
		}
		r.Next().Recv(a, make([]byte, 8), 0, 0) // and one that was only pushed
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := unix.Dup3(b, a, unix.O_CLOEXEC); err != nil { // closes a
			t.Fatal(err)
		}
		if _, err := unix.Write(b, []byte{1}); err != unix.EPIPE {
			t.Errorf("write to a socket whose other end is closed: %v", err)
		}
	})
}

func TestClosedRing(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if errno := r.Enter(0, 0); errno != unix.EBADF {
		t.Errorf("Enter: %v", errno)
	}
	if r.Next() != nil || r.Peek() != nil || r.Ready() != 0 || r.Withdraw() != 0 {
		t.Error("a closed ring takes and gives")
	}
	r.Seen()
	if _, err := r.Buffers(1, 1, false); !errors.Is(err, unix.EBADF) {
		t.Errorf("Buffers: %v", err)
	}
	if _, err := r.Provide(1, 1); !errors.Is(err, unix.EBADF) {
		t.Errorf("Provide: %v", err)
	}
	if _, err := r.Supports(OpSend); !errors.Is(err, unix.EBADF) {
		t.Errorf("Supports: %v", err)
	}
}

// TestAnothersRing enters a ring from a thread that it does not belong to.
func TestAnothersRing(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	if !r.deferred {
		skip(t, "rings of this kernel belong to no thread")
	}
	enter(t, r, 0)
	done := make(chan unix.Errno)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		done <- r.Enter(0, 0)
	}()
	if errno := <-done; errno != unix.EEXIST {
		t.Errorf("got %v, want EEXIST", errno)
	}
}

func TestBadDescriptor(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	r.Next().Send(-1, []byte{1}, 0, 7)
	enter(t, r, 1)
	if c := take(t, r); c.Data != 7 || c.Res != -int32(unix.EBADF) {
		t.Errorf("completion %+v", c)
	}
}

func TestSupports(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	if ok, err := r.Supports(OpNop, OpSend, OpRecv); !ok || err != nil {
		t.Errorf("send and receive: %v, %v", ok, err)
	}
	if ok, err := r.Supports(OpSend, 255); ok || err != nil {
		t.Errorf("an operation that no kernel has: %v, %v", ok, err)
	}
}

func TestNothingAllocates(t *testing.T) {
	r := newRing(t, Options{Entries: 4})
	pool, err := r.Provide(4, 64)
	if err != nil {
		skip(t, err)
	}
	a, b := socketpair(t, unix.SOCK_DGRAM)
	message := make([]byte, 8)
	r.Next().RecvAll(b, pool, 1)
	if n := testing.AllocsPerRun(100, func() {
		r.Next().Send(a, message, 0, 0)
		enter(t, r, 2)
		for range 2 {
			c := r.Peek()
			if id, filled := c.Buffer(); filled {
				pool.Give(id)
			}
			r.Seen()
		}
	}); n != 0 {
		t.Errorf("%v objects for a message", n)
	}
}
