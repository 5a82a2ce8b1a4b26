package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// truncStream is recv(2) with MSG_TRUNC: the payload is thrown away uncopied.
type truncStream struct {
	plainMethod
	sock sys.Sock
}

func newTruncStream(s *socket, cfg Config) (streamReceiver, error) {
	if err := s.gather(cfg); err != nil {
		return nil, err
	}
	return &truncStream{sock: s.Sock}, nil
}

//go:nosplit
func (m *truncStream) receive() (int, unix.Errno) {
	m.calls++
	return m.sock.Discard(maxWrite)
}
