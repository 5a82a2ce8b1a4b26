//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// connectTime is how long a TCP connection may take to come about: three SYN
// segments on a path that loses some.
const connectTime = 10 * time.Second

// maxChunk is the most that one call on a TCP socket sends or receives, unless
// a test says otherwise: larger buffers fall out of the processor's cache.
const maxChunk = 128 << 10

func openTCP(cfg Config) (*socket, uint16, error) {
	s, err := openSocket(cfg, unix.SOCK_STREAM, unix.IPPROTO_TCP, "TCP socket")
	if err != nil {
		return nil, 0, err
	}
	if cfg.Port != 0 {
		if err := s.reuse(); err != nil {
			s.close()
			return nil, 0, err
		}
	}
	port, err := s.bind(cfg.Addr, cfg.Port)
	if err != nil {
		s.close()
		return nil, 0, err
	}
	return s, port, nil
}

// listenTCPAt makes a listening socket. Buffers are set before, since the
// window scale is agreed on when a connection is made (tcp(7)).
func listenTCPAt(cfg Config) (*socket, uint16, error) {
	s, port, err := openTCP(cfg)
	if err != nil {
		return nil, 0, err
	}
	err = s.setTimeout(unix.SO_RCVTIMEO, pollTime)
	if err == nil {
		if err = unix.Listen(int(s.Sock), max(8, cfg.Test.Flows())); err != nil {
			err = fmt.Errorf("listen on a %s: %w", s.what, err)
		}
	}
	if err != nil {
		s.close()
		return nil, 0, err
	}
	return s, port, nil
}

func (s *socket) noDelay() error {
	if err := unix.SetsockoptInt(int(s.Sock), unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return nil
}

// dial connects a TCP socket within a time.
func (s *socket) dial(peer netip.AddrPort, limit time.Duration) error {
	if err := s.beginDial(peer); err != nil {
		return err
	}
	return s.endDial(peer, time.Now().Add(limit), limit)
}

// beginDial sends the first segment of a connection, and endDial waits until
// that has come about, within a time.
func (s *socket) beginDial(peer netip.AddrPort) error {
	sa, err := s.sockaddr(peer)
	if err != nil {
		return err
	}
	fd := int(s.Sock)
	if err := unix.SetNonblock(fd, true); err != nil {
		return fmt.Errorf("make a %s non-blocking: %w", s.what, err)
	}
	if err = unix.Connect(fd, sa); err != nil && err != unix.EINPROGRESS && err != unix.EINTR {
		return fmt.Errorf("connect a %s to %v: %w", s.what, peer, err)
	}
	return nil
}

// endDial is explained with beginDial. The limit is what until was made of. A
// connection that has come about by then is good even if nobody looked.
func (s *socket) endDial(peer netip.AddrPort, until time.Time, limit time.Duration) error {
	if err := s.awaitConnected(until, limit); err != nil {
		return fmt.Errorf("connect a %s to %v: %w", s.what, peer, err)
	}
	if err := unix.SetNonblock(int(s.Sock), false); err != nil {
		return fmt.Errorf("make a %s blocking: %w", s.what, err)
	}
	return nil
}

func (s *socket) awaitConnected(until time.Time, limit time.Duration) error {
	fd := int(s.Sock)
	for {
		left := max(0, time.Until(until))
		ready, err := sys.WaitReady(fd, unix.POLLOUT, int64(left))
		switch {
		case err != nil && err != unix.EINTR:
			return err
		case ready:
			code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err == nil && code != 0 {
				err = unix.Errno(code)
			}
			return err
		case left == 0:
			return fmt.Errorf("no answer within %v: %w", limit, unix.ETIMEDOUT)
		}
	}
}

// accept waits for the peer's connection; others are closed. It returns nil
// when over says that none will come. The connection's wait to receive is
// limited as given.
func (s *socket) accept(peer netip.AddrPort, over func() bool, wait time.Duration) (*socket, error) {
	peer = plainAddr(peer)
	c, _, err := s.acceptFrom(func(from netip.AddrPort) bool { return from == peer }, over, wait)
	return c, err
}

// plainAddr is an address as addrPort has those of peers.
func plainAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// acceptFrom is accept for every peer that is wanted, and tells which it was.
func (s *socket) acceptFrom(wanted func(netip.AddrPort) bool, over func() bool, wait time.Duration) (*socket, netip.AddrPort, error) {
	none := netip.AddrPort{}
	for !over() {
		fd, sa, err := sys.Accept(int(s.Sock))
		if err != nil {
			// accept(2): errors of a connection that has gone already are the
			// listener's to try again after.
			if errno, ok := err.(unix.Errno); ok && (transient(errno) || errno == unix.ECONNABORTED || errno == unix.EPROTO) {
				continue
			}
			return nil, none, fmt.Errorf("accept on a %s: %w", s.what, err)
		}
		c, from := &socket{Sock: sys.Sock(fd), what: s.what}, addrPort(sa)
		if !wanted(from) {
			c.close()
			continue
		}
		err = errors.Join(c.setTimeout(unix.SO_SNDTIMEO, pollTime), c.setTimeout(unix.SO_RCVTIMEO, wait))
		if err != nil {
			c.close()
			return nil, none, err
		}
		return c, from, nil
	}
	return nil, none, nil
}

// errOver is the end of a transfer that nobody waits for any longer.
var errOver = errors.New("the trial is over")

// transfer carries on with a message of total bytes on a TCP socket, of which
// done have been transferred and the latest call returned errno. step makes
// one call for at most n bytes. It ends with io.EOF when the peer has closed,
// and with errOver when over says so after a wait.
func (s *socket) transfer(done, total int, errno unix.Errno, step func(n int) (int, unix.Errno), over func() bool) error {
	for {
		switch errno {
		case 0, unix.EINTR:
		case unix.EAGAIN:
			if over() {
				return errOver
			}
		case unix.EPIPE, unix.ECONNRESET:
			return io.EOF
		default:
			return s.failed("transfer on", errno)
		}
		if done == total {
			return nil
		}
		var n int
		if n, errno = step(total - done); errno == 0 {
			if n == 0 {
				return io.EOF
			}
			done += n
		}
	}
}

// sendRest sends what is left of a message, from a buffer that is sent over
// and over again.
//
//go:noinline
func (s *socket) sendRest(buf []byte, done, total int, errno unix.Errno, over func() bool) error {
	return s.transfer(max(done, 0), total, errno, func(n int) (int, unix.Errno) {
		return s.Send(buf[:min(n, len(buf))], unix.MSG_NOSIGNAL)
	}, over)
}

// receiveRest receives what is left of a message.
//
//go:noinline
func (s *socket) receiveRest(buf []byte, done, total int, errno unix.Errno, over func() bool) error {
	if done == 0 && errno == 0 {
		return io.EOF
	}
	return s.transfer(max(done, 0), total, errno, func(n int) (int, unix.Errno) {
		return s.Recv(buf[:min(n, len(buf))], 0)
	}, over)
}

// hangUp ends a connection: what was sent still arrives, and then the peer
// sees the end. It waits, up to a limit, until the peer has ended its side
// too, so that nothing is under way any more; after that it drops what is
// left, lest it disturb what is measured next.
func (s *socket) hangUp(scrap []byte, limit time.Duration) {
	if s.beginHangUp() {
		s.endHangUp(scrap, sys.Nanotime()+int64(limit))
	}
}

// beginHangUp sends the end of the stream. It is false if the connection has
// gone.
func (s *socket) beginHangUp() bool {
	return unix.Shutdown(int(s.Sock), unix.SHUT_WR) == nil && s.setTimeout(unix.SO_RCVTIMEO, pollTime) == nil
}

// endHangUp waits for the peer's.
func (s *socket) endHangUp(scrap []byte, until int64) {
	for sys.Nanotime() < until {
		n, errno := s.Recv(scrap, 0)
		if n == 0 && errno == 0 || errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
			return
		}
	}
	s.dropOnClose()
}

// dropOnClose has the connection end at once, with what is under way dropped,
// when it is closed: it lingers for no time (socket(7)). A refusal leaves the
// rest to arrive late, which is harmless enough.
func (s *socket) dropOnClose() {
	_ = unix.SetsockoptLinger(int(s.Sock), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}
