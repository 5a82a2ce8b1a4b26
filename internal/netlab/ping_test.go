//go:build linux

package netlab

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ping has the hosts' kernels answer n ICMP echoes each way, by IPv4 and
// IPv6 in turn. A datagram socket needs what New wrote to ping_group_range.
func ping(t *testing.T, k *Link, n int) {
	t.Helper()
	from, to := k.lab.A, k.AddrB()
	if k.lab.ipv6 {
		echoes(t, from, k.Addr6B(), n/2)
		n -= n / 2
	}
	echoes(t, from, to, n)
}

func echoes(t *testing.T, from *Host, to netip.Addr, n int) {
	t.Helper()
	family, proto, request, reply := unix.AF_INET, unix.IPPROTO_ICMP, byte(8), byte(0)
	if to.Is6() {
		family, proto, request, reply = unix.AF_INET6, unix.IPPROTO_ICMPV6, 128, 129
	}
	var fd int
	err := from.NS.Do(func() (err error) {
		fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, proto)
		return err
	})
	if err != nil {
		t.Fatalf("ICMP socket: %v", err)
	}
	defer unix.Close(fd)
	wait := unix.NsecToTimeval(int64(2 * time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 256)
	for seq := range n {
		echo := make([]byte, 64)
		echo[0] = request
		binary.BigEndian.PutUint16(echo[6:], uint16(seq))
		if err := unix.Sendto(fd, echo, 0, sockaddr(netip.AddrPortFrom(to, 0))); err != nil {
			t.Fatalf("echo %d to %s: %v", seq, to, err)
		}
		got, _, err := unix.Recvfrom(fd, answer, 0)
		for errors.Is(err, unix.EINTR) { // a signal of the runtime's, with the timeout still to come
			got, _, err = unix.Recvfrom(fd, answer, 0)
		}
		if err != nil {
			t.Fatalf("answer %d from %s: %v", seq, to, err)
		}
		if got != len(echo) || answer[0] != reply || binary.BigEndian.Uint16(answer[6:]) != uint16(seq) {
			t.Fatalf("answer %d from %s: % x", seq, to, answer[:got])
		}
	}
}
