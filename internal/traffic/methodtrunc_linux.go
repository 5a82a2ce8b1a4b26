package traffic

import "golang.org/x/sys/unix"

// truncDatagram is recv(2) with MSG_TRUNC, which tells a datagram's length
// however little of it there is room for: no more than its mark is copied.
type truncDatagram struct{ recvDatagram }

func newTruncDatagram(s *socket, _ Config) (datagramReceiver, error) {
	return &truncDatagram{recvDatagram{sock: s.Sock, buffer: makeBuffers(1, maxSequence)[0]}}, nil
}

//go:nosplit
func (m *truncDatagram) receive() (int, unix.Errno) { return m.take(unix.MSG_TRUNC) }

//go:nosplit
func (m *truncDatagram) poll() (int, unix.Errno) { return m.take(unix.MSG_TRUNC | unix.MSG_DONTWAIT) }
