package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// vectorPieces is in how many pieces of memory writev finds a message.
const vectorPieces = 4

// pieces cuts a buffer into so many, or one for each byte of a shorter one.
func pieces(b []byte, n int) [][]byte {
	n = min(n, len(b))
	all := make([][]byte, n)
	for i := range all {
		all[i] = b[i*len(b)/n : (i+1)*len(b)/n]
	}
	return all
}

// writevStream is writev(2), a message or what is left of it in each call.
type writevStream struct {
	plainMethod
	sock   sys.Sock
	vector *sys.Vector
}

func newWritevStream(s *socket, cfg Config) (streamSender, error) {
	buffer := makeBuffers(1, min(cfg.Test.Params.Size, maxWrite))[0]
	return &writevStream{sock: s.Sock, vector: sys.NewVector(pieces(buffer, vectorPieces))}, nil
}

//go:nosplit
func (m *writevStream) send(n int) (int, unix.Errno) {
	m.calls++
	return m.sock.Writev(m.vector, n)
}

// writevDatagram is writev(2), a datagram a call.
type writevDatagram struct {
	plainMethod
	sock      sys.Sock
	datagrams [][]byte
	vector    *sys.Vector
}

func newWritevDatagram(s *socket, cfg Config) (datagramSender, error) {
	datagrams := makeBuffers(1, cfg.Test.Params.Size)
	return &writevDatagram{sock: s.Sock, datagrams: datagrams, vector: sys.NewVector(pieces(datagrams[0], vectorPieces))}, nil
}

//go:nosplit
func (m *writevDatagram) batch() [][]byte { return m.datagrams }

//go:nosplit
func (m *writevDatagram) send(int) (int, unix.Errno) {
	m.calls++
	if _, errno := m.sock.Writev(m.vector, len(m.datagrams[0])); errno != 0 {
		return 0, errno
	}
	return 1, 0
}
