package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// maxSegments is the most datagrams that any kernel with UDP_SEGMENT takes as
// one (UDP_MAX_SEGMENTS of linux/udp.h, 128 since Linux 6.9).
const maxSegments = 64

// gsoBuffers is how many such are sent in a call.
const gsoBuffers = 1

// gsoDatagram is UDP_SEGMENT (udp(7)): many datagrams go through the kernel as
// one, and are cut apart by the device or just before it.
type gsoDatagram struct {
	plainMethod
	sock      *socket
	ipv6      bool
	size      int
	segments  int // datagrams in a buffer
	datagrams [][]byte
	messages  *sys.Messages
}

func newGSODatagram(s *socket, cfg Config) (datagramSender, error) {
	size := cfg.Test.Params.Size
	m := &gsoDatagram{sock: s, ipv6: !cfg.Addr.Is4(), size: size, segments: min(maxSegments, spec.MaxDatagram/size)}
	if err := setSegment(s, size); err != nil {
		return nil, err
	}
	s.explain = m.explain
	buffers := makeBuffers(gsoBuffers, m.segments*size)
	for _, b := range buffers {
		for at := 0; at < len(b); at += size {
			m.datagrams = append(m.datagrams, b[at:][:size:size])
		}
	}
	m.messages = sys.NewMessages(buffers)
	return m, nil
}

// setSegment has a socket cut what is sent on it into datagrams of a size.
func setSegment(s *socket, size int) error {
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_UDP, unix.UDP_SEGMENT, size); err != nil {
		return unavailable("gso", fmt.Sprintf("set UDP_SEGMENT of a %s to %d", s.what, size), "Linux 4.18 or later", err)
	}
	return nil
}

// fits compares the size with the MTU of the path: the kernel cuts no datagram
// into fragments that it makes of a larger one.
func (m *gsoDatagram) fits() error {
	level, option, headers := unix.IPPROTO_IP, unix.IP_MTU, spec.IPOverhead
	if m.ipv6 {
		level, option, headers = unix.IPPROTO_IPV6, unix.IPV6_MTU, spec.IPOverhead+20
	}
	mtu, err := unix.GetsockoptInt(int(m.sock.Sock), level, option)
	if err != nil {
		return fmt.Errorf("read the MTU of a %s's path: %w", m.sock.what, err)
	}
	if largest := mtu - headers; m.size > largest {
		return refused(fmt.Errorf("send method gso: datagrams of %d bytes don't fit into the path's MTU of %d, and UDP_SEGMENT makes no fragments: the largest size is %d",
			m.size, mtu, largest))
	}
	return nil
}

// explain is of what the kernel says of a path that can't (udp_send_skb of
// net/ipv4/udp.c).
func (m *gsoDatagram) explain(errno unix.Errno) error {
	if errno != unix.EIO {
		return nil
	}
	return refused(fmt.Errorf("send method gso: send on a %s with UDP_SEGMENT: %w "+
		"(it needs the device's checksum offload: ethtool -K DEVICE tx on, and no IPsec on the path)", m.sock.what, errno))
}

//go:nosplit
func (m *gsoDatagram) batch() [][]byte { return m.datagrams }

//go:nosplit
func (m *gsoDatagram) send(n int) (int, unix.Errno) {
	buffers, rest := (n+m.segments-1)/m.segments, n%m.segments
	if rest != 0 {
		m.messages.SetLength(buffers-1, rest*m.size)
	}
	sent, errno := 0, unix.Errno(0)
	for sent < buffers && errno == 0 {
		m.calls++
		var k int
		k, errno = m.sock.SendMessages(m.messages, sent, buffers, 0)
		sent += k
	}
	if rest != 0 {
		m.messages.SetLength(buffers-1, m.segments*m.size)
	}
	return min(sent*m.segments, n), errno
}

func (m *gsoDatagram) join(s *socket) error { return setSegment(s, m.size) }

//go:nosplit
func (m *gsoDatagram) aim(s *socket) { m.sock = s }
