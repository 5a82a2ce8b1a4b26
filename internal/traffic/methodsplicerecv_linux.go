package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// spliceRecv is splice(2) from the socket into a pipe and from there to
// /dev/null: no byte is copied.
type spliceRecv struct {
	plainMethod
	pipe pipe
	sock sys.Sock
	null int
}

func newSpliceRecv(s *socket, cfg Config) (streamReceiver, error) {
	if err := s.gather(cfg); err != nil {
		return nil, err
	}
	null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/null, to splice to: %w", err)
	}
	p, err := newPipe()
	if err != nil {
		return nil, errors.Join(err, unix.Close(null))
	}
	return &spliceRecv{pipe: p, sock: s.Sock, null: null}, nil
}

//go:nosplit
func (m *spliceRecv) receive() (int, unix.Errno) {
	m.calls++
	got, errno := sys.Splice(int(m.sock), m.pipe.write, m.pipe.holds, 0)
	if errno != 0 || got == 0 {
		return 0, errno
	}
	for m.pipe.in = got; m.pipe.in > 0; {
		m.calls++
		n, errno := sys.Splice(m.pipe.read, m.null, m.pipe.in, 0)
		if errno != 0 && errno != unix.EINTR {
			return 0, errno
		}
		m.pipe.in -= max(n, 0)
	}
	return got, 0
}

func (m *spliceRecv) close() error {
	null := m.null
	if m.null = -1; null < 0 {
		return nil
	}
	return errors.Join(m.pipe.close(), unix.Close(null))
}
