package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// recvmmsgDatagram is recvmmsg(2), what is there a call.
type recvmmsgDatagram struct {
	plainMethod
	sock     sys.Sock
	buffers  [][]byte
	messages *sys.Messages
}

func newRecvmmsgDatagram(s *socket, cfg Config) (datagramReceiver, error) {
	return newRecvmmsg(s, cfg), nil
}

func newRecvmmsg(s *socket, cfg Config) *recvmmsgDatagram {
	size := max(cfg.Test.Params.Size, maxSequence)
	m := &recvmmsgDatagram{sock: s.Sock, buffers: makeBuffers(batchOf(size), size)}
	m.messages = sys.NewMessages(m.buffers)
	return m
}

//go:nosplit
func (m *recvmmsgDatagram) receive() (int, unix.Errno) {
	m.calls++
	return m.sock.ReceiveMessages(m.messages, unix.MSG_WAITFORONE)
}

//go:nosplit
func (m *recvmmsgDatagram) datagram(i int) ([]byte, int) {
	return m.buffers[i], m.messages.Length(i)
}

//go:nosplit
func (m *recvmmsgDatagram) source(i int) *sys.Source { return m.messages.Source(i) }

//go:nosplit
func (m *recvmmsgDatagram) poll() (int, unix.Errno) {
	m.calls++
	return m.sock.ReceiveMessages(m.messages, unix.MSG_DONTWAIT)
}
