//go:build darwin || freebsd || (linux && portable)

package sys

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// Sockaddr is an IPv4 or IPv6 address with a port, for the kernel.
type Sockaddr struct {
	to   unix.Sockaddr
	host netip.Addr
}

// NewSockaddr is the address for the kernel. zone is the number of the
// interface that an IPv6 address belongs to, 0 for none; the address's own
// zone is not looked at.
func NewSockaddr(a netip.AddrPort, zone uint32) Sockaddr {
	ip := a.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return Sockaddr{&unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}, ip}
	}
	return Sockaddr{&unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16(), ZoneId: zone}, ip}
}

// SameHost says whether two addresses are of the same family and host,
// whatever their ports and zones.
func (a *Sockaddr) SameHost(b *Sockaddr) bool { return a.host == b.host }

// NewSock is Socket, with an error for loops.
func NewSock(family, kind, protocol int) (Sock, unix.Errno) {
	fd, err := Socket(family, kind, protocol)
	return Sock(fd), errnoOf(err)
}

// SetOption is setsockopt(2). value must not be empty.
func (s Sock) SetOption(level, option int, value []byte) unix.Errno {
	return errnoOf(unix.SetsockoptString(int(s), level, option, string(value)))
}

// Bind is bind(2).
func (s Sock) Bind(a *Sockaddr) unix.Errno { return errnoOf(unix.Bind(int(s), a.to)) }

// Connect is connect(2).
func (s Sock) Connect(a *Sockaddr) unix.Errno { return errnoOf(unix.Connect(int(s), a.to)) }

// Accept is accept(2) on a listening socket, which waits at most as long as its
// SO_RCVTIMEO (EAGAIN). from becomes the peer's address. Children don't inherit
// the connection.
func (s Sock) Accept(from *Sockaddr) (Sock, unix.Errno) {
	fd, sa, err := Accept(int(s))
	if err != nil {
		return -1, errnoOf(err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		*from = Sockaddr{sa, netip.AddrFrom4(sa.Addr)}
	case *unix.SockaddrInet6:
		*from = Sockaddr{sa, netip.AddrFrom16(sa.Addr).Unmap()}
	default:
		*from = Sockaddr{}
	}
	return Sock(fd), 0
}

// Shutdown is shutdown(2); how is one of unix.SHUT_RD, SHUT_WR and SHUT_RDWR.
func (s Sock) Shutdown(how int) unix.Errno { return errnoOf(unix.Shutdown(int(s), how)) }

// Close is close(2).
func (s Sock) Close() unix.Errno { return errnoOf(unix.Close(int(s))) }
