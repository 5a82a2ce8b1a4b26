package counters

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest/veth"
)

// told is a set of sockets that an engine has told of.
func told(fds ...int) *sockets {
	s := &sockets{}
	for _, fd := range fds {
		s.add(fd)
	}
	return s
}

// Every datagram that did not fit into a socket is among its drops, and among
// those of its network namespace.
func TestSocketDrops(t *testing.T) {
	lab, link := veth.Pair(t)
	from, to := socketAt(t, lab.A, unix.SOCK_DGRAM, link.AddrA()), socketAt(t, lab.B, unix.SOCK_DGRAM, link.AddrB())
	if err := unix.SetsockoptInt(to, unix.SOL_SOCKET, unix.SO_RCVBUF, 8000); err != nil {
		t.Fatal(err)
	}
	o := &Options{sockets: told(to)}
	sock, snmp := openAt(t, lab.B, o, openSockets), openAt(t, lab.B, o, openSNMP)
	sockBefore, snmpBefore := sampleOf(t, sock), sampleOf(t, snmp)

	const n = 300
	sendMany(t, from, to, n, 1000)
	drops := func() int64 { return between(t, sockBefore, sampleOf(t, sock)).Counts["drops"] }
	eventually(t, "the buffer is full", func() bool { return drops() > 0 })
	full := sampleOf(t, sock).levels
	if full["sockets"] != 1 || full["rcvbuf"] != 16000 || full["rmem"] == 0 || full["rmem"] > full["rcvbuf"]+4096 || full["sndbuf"] == 0 {
		t.Errorf("levels %v", full)
	}
	got := 0
	eventually(t, "every datagram is found", func() bool { got += drained(to); return got+int(drops()) >= n })
	r := between(t, snmpBefore, sampleOf(t, snmp))
	if d := drops(); got == 0 || d == 0 || got+int(d) != n || r.Counts["Udp.RcvbufErrors"] != d || r.Counts["Udp.InDatagrams"] != int64(got) {
		t.Errorf("%d of %d datagrams came, the socket dropped %d: %v", got, n, d, r.Counts)
	}
}

// A test that told of no socket has nothing here, which is found when it is
// over: until then one may come.
func TestSocketsNone(t *testing.T) {
	for name, open := range map[string]func(*Options) (source, error){"sockets": openSockets, "tcp_info": openTCPInfo} {
		s, err := open(&Options{sockets: told()})
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.take()
		if err == nil {
			err = x.parsed()
		}
		if err == nil {
			t.Errorf("%s without a socket: %v", name, x)
		}
		if errors.Is(err, feature.ErrUnavailable) {
			t.Errorf("%s: the kernel could have told: %v", name, err)
		}
	}
}

// A socket that was closed is said to be gone, also if another one has its
// number by now, and is in no figure.
func TestSocketGone(t *testing.T) {
	addr := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	open := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Bind(fd, addr); err != nil {
			t.Fatal(err)
		}
		return fd
	}
	for _, anew := range []bool{false, true} {
		t.Run(fmt.Sprintf("anew %v", anew), func(t *testing.T) {
			fd, other := open(), open()
			defer unix.Close(other)
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1); err != nil {
				t.Fatal(err)
			}
			s, err := openSockets(&Options{sockets: told(fd, other)})
			if err != nil {
				t.Fatal(err)
			}
			sendMany(t, other, fd, 50, 1000)
			if x := sampleOf(t, s); x.counts["drops"] == 0 || x.levels["sockets"] != 2 {
				t.Fatalf("before: %v %v", x.counts, x.levels)
			}
			if anew {
				if err := unix.Dup2(other, fd); err != nil {
					t.Fatal(err)
				}
				defer unix.Close(fd)
			} else {
				unix.Close(fd)
			}
			if x := sampleOf(t, s); x.levels["gone"] != 1 || x.levels["sockets"] != 1 || x.counts["drops"] != 0 {
				t.Errorf("after: %v %v", x.counts, x.levels)
			}
		})
	}
}
