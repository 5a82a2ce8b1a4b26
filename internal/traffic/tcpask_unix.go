//go:build linux || darwin || freebsd

package traffic

import (
	"time"

	"golang.org/x/sys/unix"
)

// A local end that receives asks for its stream with a byte when it runs. So
// the remote end's window begins with the local one's, rather than when the
// remote end was started.

// awaitAsk waits for the byte with which the other end asks for its stream. It
// is false if over says that none will come, or if the other end has gone.
func (s *socket) awaitAsk(over func() bool) (bool, error) {
	var ask [1]byte
	for !over() {
		switch n, errno := s.Recv(ask[:], 0); {
		case errno == unix.EAGAIN || errno == unix.EINTR:
		case errno == unix.ECONNRESET || errno == 0 && n == 0:
			return false, nil
		case errno != 0:
			return false, s.failed("receive from", errno)
		default:
			return true, nil
		}
	}
	return false, nil
}

// ask asks the other end for the stream of a test.
func (s *socket) ask(cfg *Config) error {
	for until := time.Now().Add(finishTime); ; {
		_, errno := s.Send([]byte{1}, unix.MSG_NOSIGNAL)
		if errno == 0 {
			return nil
		}
		if errno == unix.ECONNRESET || errno == unix.EPIPE {
			return peerClosed(cfg, errno)
		}
		if errno != unix.EINTR && errno != unix.EAGAIN || time.Now().After(until) {
			return s.failed("ask for a stream on", errno)
		}
	}
}
