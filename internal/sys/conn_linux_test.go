package sys

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection is made, accepted and ended by the calls for loops.
func TestConnections(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		addr := netip.MustParseAddr(host)
		family := unix.AF_INET
		if addr.Is6() {
			family = unix.AF_INET6
		}
		listener, errno := NewSock(family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
		if errno != 0 {
			t.Fatal(errno)
		}
		defer listener.Close()
		any := NewSockaddr(netip.AddrPortFrom(addr, 0), 0)
		if errno := listener.Bind(&any); errno != 0 {
			t.Fatal(errno)
		}
		if err := unix.Listen(int(listener), 1); err != nil {
			t.Fatal(err)
		}
		sa, err := unix.Getsockname(int(listener))
		if err != nil {
			t.Fatal(err)
		}
		port := 0
		switch sa := sa.(type) {
		case *unix.SockaddrInet4:
			port = sa.Port
		case *unix.SockaddrInet6:
			port = sa.Port
		}
		at := NewSockaddr(netip.AddrPortFrom(addr, uint16(port)), 0)
		if n := testing.AllocsPerRun(1, func() {
			if errno := connectOnce(family, listener, &at); errno != 0 {
				t.Error(errno)
			}
		}); n > 0 && !portable() {
			t.Errorf("%v objects were allocated for a connection", n)
		}
		listener.Close()
		s, errno := NewSock(family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
		if errno != 0 {
			t.Fatal(errno)
		}
		if errno := s.Connect(&at); errno != unix.ECONNREFUSED {
			t.Errorf("connecting to a closed port: %v", errno)
		}
		if errno := s.Close(); errno != 0 {
			t.Error(errno)
		}
		if errno := s.Close(); errno != unix.EBADF {
			t.Errorf("closing it again: %v", errno)
		}
	}
}

var reuse = []byte{1, 0, 0, 0}

func connectOnce(family int, listener Sock, at *Sockaddr) unix.Errno {
	s, errno := NewSock(family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
	if errno != 0 {
		return errno
	}
	defer s.Close()
	if errno = s.SetOption(unix.SOL_SOCKET, unix.SO_REUSEADDR, reuse); errno != 0 {
		return errno
	}
	if errno = s.Connect(at); errno != 0 {
		return errno
	}
	var from Sockaddr
	c, errno := listener.Accept(&from)
	if errno != 0 {
		return errno
	}
	defer c.Close()
	if !from.SameHost(at) {
		return unix.EADDRNOTAVAIL
	}
	if errno = s.Shutdown(unix.SHUT_WR); errno != 0 {
		return errno
	}
	var b [1]byte
	if n, errno := c.Recv(b[:], 0); n != 0 || errno != 0 {
		return unix.EIO
	}
	return 0
}

// portable says whether the calls are package unix's, which allocate.
func portable() bool {
	return testing.AllocsPerRun(1, func() { sink = NewSockaddr(netip.MustParseAddrPort("127.0.0.1:1"), 0) }) > 0
}

var sink Sockaddr

func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"127.0.0.1:1", "127.0.0.1:2", true},
		{"127.0.0.1:1", "127.0.0.2:1", false},
		{"[::ffff:127.0.0.1]:1", "127.0.0.1:1", true},
		{"[fe80::1]:1", "[fe80::1%2]:3", true},
		{"[fe80::1]:1", "[fe80::2]:1", false},
		{"127.0.0.1:1", "[::1]:1", false},
	} {
		a, b := NewSockaddr(netip.MustParseAddrPort(c.a), 0), NewSockaddr(netip.MustParseAddrPort(c.b), 7)
		if a.SameHost(&b) != c.want || b.SameHost(&a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}
