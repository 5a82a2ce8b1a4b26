//go:build linux || darwin || freebsd

package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// writeStream is write(2), a message or what is left of it in each call.
type writeStream struct {
	plainMethod
	sock   sys.Sock
	buffer []byte
}

func newWriteStream(s *socket, cfg Config) (streamSender, error) {
	return &writeStream{sock: s.Sock, buffer: makeBuffers(1, min(cfg.Test.Params.Size, maxWrite))[0]}, nil
}

//go:nosplit
func (m *writeStream) send(n int) (int, unix.Errno) {
	m.calls++
	return m.sock.Write(m.buffer[:min(n, len(m.buffer))])
}

// writeDatagram is write(2), a datagram a call.
type writeDatagram struct {
	plainMethod
	sock      sys.Sock
	datagrams [][]byte
}

func newWriteDatagram(s *socket, cfg Config) (datagramSender, error) {
	return &writeDatagram{sock: s.Sock, datagrams: makeBuffers(1, cfg.Test.Params.Size)}, nil
}

//go:nosplit
func (m *writeDatagram) batch() [][]byte { return m.datagrams }

//go:nosplit
func (m *writeDatagram) send(int) (int, unix.Errno) {
	m.calls++
	if _, errno := m.sock.Write(m.datagrams[0]); errno != 0 {
		return 0, errno
	}
	return 1, 0
}
