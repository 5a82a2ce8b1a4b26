package traffic

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// socketWatcher notes which sockets it is told of.
type socketWatcher struct {
	mu sync.Mutex
	// cookies are what the kernel knew each by when it was told of.
	cookies map[int]uint64
	threads map[int]int // numbers of the kernel by those of the test
	left    []int       // those that have done their part
	wrong   []error
}

func (w *socketWatcher) Warm(int64) {}
func (w *socketWatcher) Over(int64) {}

// Left has each thread that the test has beside its first say that it is done.
func (w *socketWatcher) Left() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = append(w.left, sys.ThreadID())
}

// Thread has each number go to one thread.
func (w *socketWatcher) Thread(number, tid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, twice := w.threads[number]; twice {
		w.wrong = append(w.wrong, fmt.Errorf("threads %d and %d are both number %d", other, tid, number))
	}
	if w.threads == nil {
		w.threads = map[int]int{}
	}
	w.threads[number] = tid
}

func (w *socketWatcher) Socket(fd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if _, twice := w.cookies[fd]; twice && err == nil {
		err = fmt.Errorf("descriptor %d was told of twice", fd)
	}
	if err != nil {
		w.wrong = append(w.wrong, err)
		return
	}
	w.cookies[fd] = cookie
}

// check checks that so many sockets were told of and are still there.
func (w *socketWatcher) check(t *testing.T, role string, want int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) > 0 || len(w.cookies) != want {
		t.Errorf("%s told of %d sockets, not %d: %v", role, len(w.cookies), want, w.wrong)
	}
	for number, tid := range w.threads {
		if number > 0 && !slices.Contains(w.left, tid) {
			t.Errorf("%s: thread %d did not say that it has done its part", role, number)
		}
	}
	for fd, cookie := range w.cookies {
		if now, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE); err != nil || now != cookie {
			t.Errorf("%s: descriptor %d is no longer the socket that was told of: %v", role, fd, err)
		}
	}
}

// Every socket that lasts as long as a test is told of once, and is there until
// its engine is closed.
func TestWatcherIsToldOfEverySocket(t *testing.T) {
	addr := netip.MustParseAddr("127.0.0.1")
	for i, c := range []struct {
		test          string
		params        spec.Params
		local, remote int
	}{
		{"udp_rr", spec.Params{}, 1, 1},
		{"udp_rr", spec.Params{Rate: 1000}, 1, 1},
		{"udp_rr", spec.Params{Flows: 3, Threads: 2, Size: 8}, 3, 2},
		{"udp_rr", spec.Params{Load: "tcp_stream"}, 1, 1},
		{"tcp_rr", spec.Params{}, 1, 1},
		{"tcp_rr", spec.Params{Rate: 1000}, 1, 1},
		{"tcp_rr", spec.Params{Flows: 3, Threads: 2}, 3, 3},
		{"tcp_crr", spec.Params{}, 0, 0},
		{"udp_rr", spec.Params{Load: "tcp_bidir"}, 1, 1},
		{"udp_stream", spec.Params{}, 1, 1},
		{"udp_stream", spec.Params{Flows: 4, Threads: 2}, 4, 2},
		{"tcp_stream", spec.Params{}, 1, 1},
		{"tcp_stream", spec.Params{Rate: 1000}, 1, 1},
		{"tcp_stream", spec.Params{Flows: 2, Threads: 2}, 2, 2},
		{"tcp_stream", spec.Params{Flows: 5}, 5, 5},
		{"tcp_maerts", spec.Params{}, 1, 1},
		{"tcp_maerts", spec.Params{Flows: 5}, 5, 5},
		{"tcp_bidir", spec.Params{}, 2, 2},
		{"icmp_echo", spec.Params{}, 1, -1},
		{"wake", spec.Params{}, 0, -1},
	} {
		t.Run(fmt.Sprintf("%s %d", c.test, i), func(t *testing.T) {
			test, err := spec.NewTest(c.test, c.params)
			if err != nil {
				t.Fatal(err)
			}
			if !rawCalls && c.params.Flows > max(1, c.params.Threads) {
				return // the portable layer has a thread for each flow
			}
			engine := func(role string) (Engine, *socketWatcher, netip.AddrPort) {
				w := &socketWatcher{cookies: map[int]uint64{}}
				e, err := New(Config{Role: role, Test: test, Warmup: 5 * time.Millisecond, Window: 20 * time.Millisecond,
					CPU: -1, Addr: addr, Usage: &Usage{Watcher: w}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { e.Close() })
				port, err := e.Prepare()
				if err != nil {
					t.Fatal(err)
				}
				return e, w, netip.AddrPortFrom(addr, port)
			}
			local, localTold, localAt := engine(result.Local)
			if c.remote < 0 {
				if err := local.Arm(netip.AddrPortFrom(addr, 0)); err != nil {
					t.Fatal(err)
				}
				finish(t, start(local))
				localTold.check(t, result.Local, c.local)
				return
			}
			remote, remoteTold, remoteAt := engine(result.Remote)
			if err := remote.Arm(localAt); err != nil {
				t.Fatal(err)
			}
			if err := local.Arm(remoteAt); err != nil {
				t.Fatal(err)
			}
			remoteDone := start(remote)
			finish(t, start(local))
			localTold.check(t, result.Local, c.local)
			remote.Stop()
			finish(t, remoteDone)
			remoteTold.check(t, result.Remote, c.remote)
		})
	}
}
