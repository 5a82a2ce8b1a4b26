package counters

import (
	"maps"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/netlab"
	"netdelta/internal/result"
)

// on does something on a thread that is at a host.
func on(t testing.TB, h *netlab.Host, f func() error) {
	t.Helper()
	if err := h.NS.Do(f); err != nil {
		t.Fatal(err)
	}
}

// openAt opens a source at a host, until the test ends.
func openAt(t testing.TB, h *netlab.Host, o *Options, open func(*Options) (source, error)) source {
	t.Helper()
	if o.root == "" {
		o.root = "/"
	}
	var s source
	on(t, h, func() (err error) { s, err = open(o); return err })
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sampleAt is sampleOf on a thread that is at a host.
func sampleAt(t testing.TB, h *netlab.Host, s source) (x *sample) {
	t.Helper()
	on(t, h, func() error { x = sampleOf(t, s); return nil })
	return x
}

// between is what was counted between two samples.
func between(t testing.TB, before, after *sample) result.Reading {
	t.Helper()
	r, err := reading("test", before, after)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantValues(t testing.TB, what string, got, want map[string]int64) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// patience is how long something is waited for that a busy machine may delay.
const patience = 10 * time.Second

// eventually tries until it is so.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !is(); {
		if time.Now().After(until) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// socketAt makes a socket at a host, bound to an address, until the test ends.
// A wait to receive lasts a moment.
func socketAt(t testing.TB, h *netlab.Host, kind int, addr netip.Addr) int {
	t.Helper()
	fd := -1
	on(t, h, func() (err error) {
		if fd, err = unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		wait := unix.NsecToTimeval(int64(20 * time.Millisecond))
		if err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
			return err
		}
		return unix.Bind(fd, &unix.SockaddrInet4{Addr: addr.As4()})
	})
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// sendMany sends datagrams from one socket to another, as fast as it can.
func sendMany(t testing.TB, from, to, n, size int) {
	t.Helper()
	sa, err := unix.Getsockname(to)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := unix.Sendto(from, make([]byte, size), 0, sa); err != nil {
			t.Fatal(err)
		}
	}
}

// drained is how many datagrams are in a socket, which it takes out.
func drained(fd int) (n int) {
	for b := make([]byte, 1<<16); ; n++ {
		if _, _, err := unix.Recvfrom(fd, b, 0); err != nil {
			return n
		}
	}
}
