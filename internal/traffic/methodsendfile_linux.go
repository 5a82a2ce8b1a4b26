package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// sendFile is sendfile(2), a message or what is left of it in each call.
type sendFile struct {
	fileMethod
	sock sys.Sock
}

func newSendFile(s *socket, cfg Config) (streamSender, error) {
	f, err := newFileMethod(s, cfg)
	if err != nil {
		return nil, err
	}
	return &sendFile{fileMethod: f, sock: s.Sock}, nil
}

//go:nosplit
func (m *sendFile) send(n int) (int, unix.Errno) {
	m.calls++
	sent, errno := m.sock.SendFile(m.fd, m.offset, m.room(min(n, maxWrite)))
	if errno != 0 {
		return 0, errno
	}
	if sent == 0 {
		return 0, m.failed(0)
	}
	m.advance(sent)
	return sent, 0
}
