package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

const (
	// groBuffer holds the largest that the kernel makes of datagrams, and the
	// head of a datagram after that.
	groBuffer = 64<<10 + maxSequence
	// groBuffers is how many such are asked for in a call.
	groBuffers = 4
	// groDatagrams is how many of a call are told apart: more than any kernel
	// puts together (UDP_MAX_SEGMENTS of linux/udp.h is 128).
	groDatagrams = groBuffers * 1024
)

// groDatagram is UDP_GRO (udp(7)): datagrams that the kernel has put together
// come as one, and are told apart here.
type groDatagram struct {
	plainMethod
	sock     sys.Sock
	buffers  [][]byte
	messages *sys.Messages
	parts    []groPart
}

// groPart is one datagram.
type groPart struct{ buffer, at, size int32 }

func newGRODatagram(s *socket, _ Config) (datagramReceiver, error) {
	m, err := newGRO(s)
	if err != nil {
		return nil, err // and not an interface with a nil in it
	}
	return m, nil
}

func newGRO(s *socket) (*groDatagram, error) {
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_UDP, unix.UDP_GRO, 1); err != nil {
		return nil, unavailable("gro", "set UDP_GRO of a "+s.what, "Linux 5.0 or later", err)
	}
	m := &groDatagram{sock: s.Sock, buffers: makeBuffers(groBuffers, groBuffer), parts: make([]groPart, groDatagrams)}
	m.messages = sys.NewMessages(m.buffers)
	m.messages.WithSegments()
	return m, nil
}

//go:nosplit
func (m *groDatagram) receive() (int, unix.Errno) {
	m.calls++
	n, errno := m.sock.ReceiveMessages(m.messages, unix.MSG_WAITFORONE)
	count := 0
	for i := range n {
		count = m.split(i, count)
	}
	return count, errno
}

// split adds the datagrams of a buffer to those before it, and returns how many
// there are then. An empty one is one, too.
//
//go:nosplit
func (m *groDatagram) split(buffer, count int) int {
	length, segment := m.messages.Length(buffer), m.messages.Segment(buffer)
	if segment <= 0 {
		segment = max(length, 1)
	}
	for at := 0; count < len(m.parts); {
		m.parts[count] = groPart{int32(buffer), int32(at), int32(min(segment, length-at))}
		count++
		if at += segment; at >= length {
			break
		}
	}
	return count
}

//go:nosplit
func (m *groDatagram) datagram(i int) ([]byte, int) {
	p := &m.parts[i]
	return m.buffers[p.buffer][p.at:], int(p.size)
}

//go:nosplit
func (m *groDatagram) source(i int) *sys.Source { return m.messages.Source(int(m.parts[i].buffer)) }
