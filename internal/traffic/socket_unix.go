//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// pollTime is the longest wait of a receiver or a blocked sender, after which
// it looks at the clock and at the stop flag.
const pollTime = 20 * time.Millisecond

// socket is a blocking socket of an engine, unknown to the netpoller.
type socket struct {
	sys.Sock
	what string // for errors: "UDP socket"
	// explain is set by a method that may know more of a failed call than its
	// number: it returns nil if there is nothing to add.
	explain  func(errno unix.Errno) error
	warnings []result.Warning
	before   droppedBefore
}

// openSocket makes a socket of the address's family with the buffers that the
// test asks for and a limit of pollTime on each wait for room to send. A wait
// to receive has none yet: its timer would be set and taken back for each
// message, which costs a round trip some 2%.
func openSocket(cfg Config, kind, protocol int, what string) (*socket, error) {
	p := cfg.Test.Params
	fd, err := sys.Socket(family(cfg.Addr), kind, protocol)
	if err != nil {
		return nil, fmt.Errorf("make a %s: %w", what, err)
	}
	s := &socket{Sock: sys.Sock(fd), what: what}
	err = errors.Join(
		s.setBuffer(unix.SO_SNDBUF, WarnSndBuf, p.SndBuf, sndBufLimit),
		s.setBuffer(unix.SO_RCVBUF, WarnRcvBuf, p.RcvBuf, rcvBufLimit),
		s.setTimeout(unix.SO_SNDTIMEO, pollTime),
	)
	if err == nil {
		err = s.setOptions(cfg)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// setBuffer sets a socket buffer's size in bytes unless it is 0, and warns if
// the kernel made something else of it.
func (s *socket) setBuffer(option int, code string, bytes int, limit string) error {
	if bytes == 0 {
		return nil
	}
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, option, bytes); err != nil {
		return refused(fmt.Errorf("set %s of a %s to %d bytes: %w (%s is the limit)", code, s.what, bytes, err, limit))
	}
	got, err := unix.GetsockoptInt(int(s.Sock), unix.SOL_SOCKET, option)
	if err != nil {
		return fmt.Errorf("read back %s of a %s: %w", code, s.what, err)
	}
	if got /= bufferFactor; got != bytes {
		s.warnings = append(s.warnings, result.Warning{
			Code:   code,
			Text:   fmt.Sprintf("%s %d was asked for, the kernel gave %d bytes", code, bytes, got),
			Advice: "see " + limit + " for the largest; very small buffers are rounded up",
		})
	}
	return nil
}

// setTimeout limits each wait in send(2) or recv(2) and accept(2): option is
// SO_SNDTIMEO or SO_RCVTIMEO. 0 is no limit. The kernel rounds up to its tick.
func (s *socket) setTimeout(option int, d time.Duration) error {
	tv := unix.NsecToTimeval(int64(d))
	if err := unix.SetsockoptTimeval(int(s.Sock), unix.SOL_SOCKET, option, &tv); err != nil {
		return fmt.Errorf("set the timeout of a %s to %v: %w", s.what, d, err)
	}
	return nil
}

// bind binds to the address, and port 0 to one of the kernel's choice; it
// returns the port.
func (s *socket) bind(addr netip.Addr, port uint16) (uint16, error) {
	local := netip.AddrPortFrom(addr, port)
	sa, err := s.sockaddr(local)
	if err != nil {
		return 0, err
	}
	if err := unix.Bind(int(s.Sock), sa); err != nil {
		return 0, fmt.Errorf("bind a %s to %v: %w%s", s.what, local, err, bindAdvice(err))
	}
	if sa, err = unix.Getsockname(int(s.Sock)); err != nil {
		return 0, fmt.Errorf("read the port of a %s: %w", s.what, err)
	}
	return addrPort(sa).Port(), nil
}

func bindAdvice(err error) string {
	switch {
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return " (no interface here has that address, or IPv6 is still checking it for duplicates)"
	case errors.Is(err, unix.EADDRINUSE):
		return " (port 0 takes a free one)"
	}
	return ""
}

// connect connects a datagram socket, so that the kernel delivers only what
// the peer sent, and throws away what had come in before.
func (s *socket) connect(peer netip.AddrPort) error {
	sa, err := s.sockaddr(peer)
	if err != nil {
		return err
	}
	if err := unix.Connect(int(s.Sock), sa); err != nil {
		return fmt.Errorf("connect a %s to %v: %w", s.what, peer, err)
	}
	var scrap [1]byte
	for {
		switch _, errno := s.Recv(scrap[:], unix.MSG_DONTWAIT); errno {
		case unix.EAGAIN:
			return nil
		case 0, unix.EINTR:
		default:
			if !transient(errno) {
				return s.failed("empty", errno)
			}
		}
	}
}

// join connects a datagram socket to the test's peer.
func (s *socket) join(cfg *Config, peer netip.AddrPort) error {
	err := s.connect(peer)
	if err == nil {
		s.lasts(cfg)
	}
	return err
}

// lasts tells whoever counts that a socket is the test's until the engine is
// closed: what closes it earlier takes its counters away. Those of a stream
// beside a test are not told of.
func (s *socket) lasts(cfg *Config) {
	if cfg.valve == nil {
		cfg.Usage.socket(int(s.Sock))
	}
}

// shutdown ends what waits on a connected socket, and what will: a receive call
// returns 0 when nothing is left, also on a datagram socket. It may be called
// from another thread.
func (s *socket) shutdown(how int) {
	// The error is that the socket is not connected any more: nothing waits.
	_ = unix.Shutdown(int(s.Sock), how)
}

// cutOff shuts a socket down after a time, unless cancel is called before.
// Nothing happens after cancel has returned.
func (s *socket) cutOff(after time.Duration) (cancel func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		defer close(done)
		s.shutdown(unix.SHUT_RDWR)
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

func (s *socket) close() error {
	if s == nil || s.Sock < 0 {
		return nil
	}
	fd := int(s.Sock)
	s.Sock = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close a %s: %w", s.what, err)
	}
	return nil
}

// failed is an error of a call on the socket.
func (s *socket) failed(verb string, errno unix.Errno) error {
	if s.explain != nil {
		if err := s.explain(errno); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s a %s: %w", verb, s.what, errno)
}

// transient says that an error is about one datagram or this moment, not about
// the socket: a full queue, a path that is down or filtered, or an ICMP error
// that an earlier datagram drew.
func transient(errno unix.Errno) bool {
	switch errno {
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EINTR, unix.ECONNREFUSED,
		unix.EHOSTUNREACH, unix.ENETUNREACH, unix.ENETDOWN, unix.EHOSTDOWN, unix.ENOPROTOOPT, unix.EACCES, unix.EPERM:
		return true
	}
	return false
}

func family(a netip.Addr) int {
	if a.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// sockaddr is an address for the kernel. A zone may be a number or the name
// of an interface in this network namespace.
func (s *socket) sockaddr(a netip.AddrPort) (unix.Sockaddr, error) {
	ip := a.Addr().Unmap()
	if ip.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}, nil
	}
	sa := &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16()}
	if zone := ip.Zone(); zone != "" {
		index, err := s.zoneIndex(zone)
		if err != nil {
			return nil, fmt.Errorf("find interface %s of address %v: %w", zone, ip, err)
		}
		sa.ZoneId = index
	}
	return sa, nil
}

func (s *socket) zoneIndex(zone string) (uint32, error) {
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	return sys.InterfaceIndex(int(s.Sock), zone)
}

// addrPort is the kernel's address without its zone.
func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr).Unmap(), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

// checkPeer reports a peer that this end cannot reach from its own address.
func checkPeer(own netip.Addr, peer netip.AddrPort) error {
	switch {
	case !peer.IsValid():
		return fmt.Errorf("no address of the peer")
	case own.Is4() != peer.Addr().Unmap().Is4():
		return fmt.Errorf("peer %v and this end's address %v are of different families: use IPv4 or IPv6 at both ends", peer.Addr(), own)
	}
	return nil
}
