package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// readWrite is read(2) from a file, pread(2) to be exact, and write(2).
type readWrite struct {
	fileMethod
	sock     sys.Sock
	buffer   []byte
	from, to int // what of the buffer has been read and not yet sent
}

func newReadWrite(s *socket, cfg Config) (streamSender, error) {
	f, err := newFileMethod(s, cfg)
	if err != nil {
		return nil, err
	}
	return &readWrite{fileMethod: f, sock: s.Sock, buffer: makeBuffers(1, min(cfg.Test.Params.Size, maxChunk))[0]}, nil
}

//go:nosplit
func (m *readWrite) send(n int) (int, unix.Errno) {
	if m.from == m.to {
		m.calls++
		got, errno := sys.ReadAt(m.fd, m.buffer[:m.room(min(n, len(m.buffer)))], m.offset)
		if errno != 0 || got == 0 {
			return 0, m.failed(errno)
		}
		m.advance(got)
		m.from, m.to = 0, got
	}
	m.calls++
	sent, errno := m.sock.Write(m.buffer[m.from:min(m.to, m.from+n)])
	if errno == 0 {
		m.from += sent
	}
	return sent, errno
}
