package sys_test

import (
	"bytes"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// datagramPair returns two bound UDP sockets on loopback, the first connected
// to the second, and the first one's address.
func datagramPair(t *testing.T, addr netip.Addr) (from, to sys.Sock, source netip.AddrPort) {
	t.Helper()
	open := func() (sys.Sock, unix.Sockaddr) {
		family, sa := unix.AF_INET, unix.Sockaddr(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		if addr.Is6() {
			family, sa = unix.AF_INET6, &unix.SockaddrInet6{Addr: addr.As16()}
		}
		fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		if err := unix.Bind(fd, sa); err != nil {
			t.Fatal(err)
		}
		if sa, err = unix.Getsockname(fd); err != nil {
			t.Fatal(err)
		}
		return sys.Sock(fd), sa
	}
	from, at := open()
	to, peer := open()
	if err := unix.Connect(int(from), peer); err != nil {
		t.Fatal(err)
	}
	port := uint16(0)
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		port = uint16(at.Port)
	case *unix.SockaddrInet6:
		port = uint16(at.Port)
	}
	return from, to, netip.AddrPortFrom(addr, port)
}

var families = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}

func slab(n, size int) [][]byte {
	buffers := make([][]byte, n)
	for i := range buffers {
		buffers[i] = bytes.Repeat([]byte{byte(i + 1)}, size)
	}
	return buffers
}

func TestMessages(t *testing.T) {
	for _, addr := range families {
		t.Run(addr.String(), func(t *testing.T) {
			from, to, source := datagramPair(t, addr)
			out := sys.NewMessages(slab(4, 100))
			in := slab(8, 200)
			got := sys.NewMessages(in)
			got.WithSources()
			want := sys.SourceOf(source)
			for round := range 3 { // what one receive leaves must not spoil the next
				out.SetLength(3, 10+round)
				if n, errno := from.SendMessages(out, 1, 4, 0); n != 3 || errno != 0 {
					t.Fatalf("sent %d: %v", n, errno)
				}
				if n, errno := to.ReceiveMessages(got, unix.MSG_DONTWAIT); n != 3 || errno != 0 {
					t.Fatalf("received %d: %v", n, errno)
				}
				for i, size := range []int{100, 100, 10 + round} {
					if got.Length(i) != size || in[i][0] != byte(i+2) || in[i][size-1] != byte(i+2) {
						t.Errorf("datagram %d: %d bytes, %v", i, got.Length(i), in[i][:size])
					}
					if s := got.Source(i); s.Port() != source.Port() || !s.SameHost(&want) {
						t.Errorf("datagram %d came from %+v, want %v", i, s, source)
					}
				}
				if n, errno := to.ReceiveMessages(got, unix.MSG_DONTWAIT); n != 0 || errno != unix.EAGAIN {
					t.Errorf("received %d: %v, want nothing", n, errno)
				}
			}
		})
	}
}

func TestSegments(t *testing.T) {
	for _, addr := range families {
		t.Run(addr.String(), func(t *testing.T) {
			labtest.Need(t, feature.UDPSegment, feature.UDPGRO)
			from, to, _ := datagramPair(t, addr)
			if err := unix.SetsockoptInt(int(from), unix.SOL_UDP, unix.UDP_SEGMENT, 10); err != nil {
				t.Fatal(err)
			}
			if err := unix.SetsockoptInt(int(to), unix.SOL_UDP, unix.UDP_GRO, 1); err != nil {
				t.Fatal(err)
			}
			out, in := slab(1, 35), sys.NewMessages(slab(2, 1000))
			in.WithSegments()
			for range 3 {
				for _, length := range []int{35, 5} { // segments, and a datagram of its own
					if _, errno := from.Write(out[0][:length]); errno != 0 {
						t.Fatal(errno)
					}
				}
				if n, errno := to.ReceiveMessages(in, unix.MSG_DONTWAIT); n != 2 || errno != 0 {
					t.Fatalf("received %d: %v", n, errno)
				}
				if in.Length(0) != 35 || in.Segment(0) != 10 || in.Length(1) != 5 || in.Segment(1) != 0 {
					t.Errorf("received %d bytes in segments of %d, %d of %d", in.Length(0), in.Segment(0), in.Length(1), in.Segment(1))
				}
			}
		})
	}
}

func TestReceiveFrom(t *testing.T) {
	for _, addr := range families {
		from, to, source := datagramPair(t, addr)
		if _, errno := from.Write([]byte("abc")); errno != 0 {
			t.Fatal(errno)
		}
		var b [8]byte
		var got sys.Source
		n, errno := to.ReceiveFrom(b[:], unix.MSG_DONTWAIT, &got)
		want := sys.SourceOf(source)
		if n != 3 || errno != 0 || got.Port() != source.Port() || !got.SameHost(&want) {
			t.Errorf("%d bytes (%v) from %+v, want 3 from %v", n, errno, got, source)
		}
	}
}

func TestSameHost(t *testing.T) {
	at := func(s string) *sys.Source { o := sys.SourceOf(netip.MustParseAddrPort(s)); return &o }
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"10.0.0.1:1", "10.0.0.1:2", true},
		{"10.0.0.1:1", "10.0.0.2:1", false},
		{"[::ffff:10.0.0.1]:1", "10.0.0.1:1", true},
		{"[fd00::1]:1", "[fd00::1]:2", true},
		{"[fd00::1]:1", "[fd00::2]:1", false},
		{"[::]:1", "0.0.0.0:1", false},
	} {
		if got := at(c.a).SameHost(at(c.b)); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestBatchesAllocateNothing(t *testing.T) {
	from, to, _ := datagramPair(t, families[0])
	out, in := sys.NewMessages(slab(4, 100)), sys.NewMessages(slab(4, 100))
	in.WithSources()
	in.WithSegments()
	if n := testing.AllocsPerRun(100, func() {
		from.SendMessages(out, 0, 4, 0)
		to.ReceiveMessages(in, unix.MSG_DONTWAIT)
	}); n != 0 {
		t.Errorf("%v objects are allocated for a batch", n)
	}
}
