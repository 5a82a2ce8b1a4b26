//go:build linux || darwin || freebsd

package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// recvStream is recv(2).
type recvStream struct {
	plainMethod
	sock   sys.Sock
	buffer []byte
}

func newRecvStream(s *socket, cfg Config) (streamReceiver, error) {
	if err := s.gather(cfg); err != nil {
		return nil, err
	}
	return &recvStream{sock: s.Sock, buffer: makeBuffers(1, maxChunk)[0]}, nil
}

//go:nosplit
func (m *recvStream) receive() (int, unix.Errno) {
	m.calls++
	return m.sock.Recv(m.buffer, 0)
}

// recvDatagram is recv(2), a datagram a call.
type recvDatagram struct {
	plainMethod
	sock   sys.Sock
	buffer []byte
	size   int
}

func newRecvDatagram(s *socket, cfg Config) (datagramReceiver, error) {
	return &recvDatagram{sock: s.Sock, buffer: makeBuffers(1, max(cfg.Test.Params.Size, maxSequence))[0]}, nil
}

//go:nosplit
func (m *recvDatagram) receive() (int, unix.Errno) { return m.take(0) }

// take is recv(2) with flags.
//
//go:nosplit
func (m *recvDatagram) take(flags int) (int, unix.Errno) {
	m.calls++
	n, errno := m.sock.Recv(m.buffer, flags)
	if errno != 0 {
		return 0, errno
	}
	m.size = n
	return 1, 0
}

//go:nosplit
func (m *recvDatagram) datagram(int) ([]byte, int) { return m.buffer, m.size }
