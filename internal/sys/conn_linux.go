//go:build !portable

package sys

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sockaddr is an IPv4 or IPv6 address with a port, in the kernel's form
// (struct sockaddr_in and sockaddr_in6, ip(7), ipv6(7)). It is made once, and
// then no call with it allocates.
type Sockaddr struct {
	raw  [unix.SizeofSockaddrInet6]byte
	size uint32
}

// Where the parts of an address are.
const (
	portAt   = 2
	host4At  = 4
	host6At  = 8
	zoneAt   = 24
	hostEnd4 = host4At + 4
	hostEnd6 = host6At + 16
)

// NewSockaddr is the address for the kernel. zone is the number of the
// interface that an IPv6 address belongs to, 0 for none; the address's own
// zone is not looked at.
func NewSockaddr(a netip.AddrPort, zone uint32) Sockaddr {
	var s Sockaddr
	binary.BigEndian.PutUint16(s.raw[portAt:], a.Port())
	if ip := a.Addr().Unmap(); ip.Is4() {
		binary.NativeEndian.PutUint16(s.raw[:], unix.AF_INET)
		host := ip.As4()
		copy(s.raw[host4At:], host[:])
		s.size = unix.SizeofSockaddrInet4
	} else {
		binary.NativeEndian.PutUint16(s.raw[:], unix.AF_INET6)
		host := ip.As16()
		copy(s.raw[host6At:], host[:])
		binary.NativeEndian.PutUint32(s.raw[zoneAt:], zone)
		s.size = unix.SizeofSockaddrInet6
	}
	return s
}

// SameHost says whether two addresses are of the same family and host,
// whatever their ports and zones.
//
//go:nosplit
func (a *Sockaddr) SameHost(b *Sockaddr) bool {
	if a.size != b.size {
		return false
	}
	if a.size == unix.SizeofSockaddrInet4 {
		return [4]byte(a.raw[host4At:hostEnd4]) == [4]byte(b.raw[host4At:hostEnd4])
	}
	return [16]byte(a.raw[host6At:hostEnd6]) == [16]byte(b.raw[host6At:hostEnd6])
}

// NewSock is socket(2), with a descriptor that children don't inherit. It is
// for loops; others use Socket.
//
//go:nosplit
func NewSock(family, kind, protocol int) (Sock, unix.Errno) {
	fd, _, e := syscall.RawSyscall(unix.SYS_SOCKET, uintptr(family), uintptr(kind|unix.SOCK_CLOEXEC), uintptr(protocol))
	return Sock(fd), e
}

// SetOption is setsockopt(2). value must not be empty.
//
//go:nosplit
func (s Sock) SetOption(level, option int, value []byte) unix.Errno {
	_, _, e := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(s), uintptr(level), uintptr(option),
		uintptr(unsafe.Pointer(unsafe.SliceData(value))), uintptr(len(value)), 0)
	return e
}

// Bind is bind(2).
//
//go:nosplit
func (s Sock) Bind(a *Sockaddr) unix.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_BIND, uintptr(s), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.size))
	return e
}

// Connect is connect(2). It waits at most as long as the socket's SO_SNDTIMEO
// (EINPROGRESS), and for as long as the kernel tries if there is none.
//
//go:nosplit
func (s Sock) Connect(a *Sockaddr) unix.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(s), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.size))
	return e
}

// Accept is accept(2) on a listening socket, which waits at most as long as its
// SO_RCVTIMEO (EAGAIN). from becomes the peer's address. Children don't inherit
// the connection.
//
//go:nosplit
func (s Sock) Accept(from *Sockaddr) (Sock, unix.Errno) {
	from.size = uint32(len(from.raw))
	fd, _, e := syscall.RawSyscall6(unix.SYS_ACCEPT4, uintptr(s), uintptr(unsafe.Pointer(&from.raw)),
		uintptr(unsafe.Pointer(&from.size)), unix.SOCK_CLOEXEC, 0, 0)
	return Sock(fd), e
}

// Shutdown is shutdown(2); how is one of unix.SHUT_RD, SHUT_WR and SHUT_RDWR.
//
//go:nosplit
func (s Sock) Shutdown(how int) unix.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_SHUTDOWN, uintptr(s), uintptr(how), 0)
	return e
}

// Close is close(2).
//
//go:nosplit
func (s Sock) Close() unix.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_CLOSE, uintptr(s), 0, 0)
	return e
}
