package sys

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Source is the address that a datagram came from, as the kernel has it. One
// of IPv4 is a sockaddr_in: its address is where one of IPv6 has the flow
// label.
type Source struct{ addr unix.RawSockaddrInet6 }

// SourceOf is the source that an address is, without a zone.
func SourceOf(a netip.AddrPort) (s Source) {
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&s.addr.Port))[:], a.Port())
	if ip := a.Addr().Unmap(); ip.Is4() {
		four := ip.As4()
		s.addr.Family, s.addr.Flowinfo = unix.AF_INET, binary.NativeEndian.Uint32(four[:])
	} else {
		s.addr.Family, s.addr.Addr = unix.AF_INET6, ip.As16()
	}
	return s
}

// Port is the port.
//
//go:nosplit
func (s *Source) Port() uint16 {
	b := (*[2]byte)(unsafe.Pointer(&s.addr.Port))
	return uint16(b[0])<<8 | uint16(b[1])
}

// SameHost says that two addresses are the same but for their ports, and but
// for their zones.
//
//go:nosplit
func (s *Source) SameHost(o *Source) bool {
	if s.addr.Family != o.addr.Family {
		return false
	}
	if s.addr.Family == unix.AF_INET {
		return s.addr.Flowinfo == o.addr.Flowinfo
	}
	return s.addr.Addr == o.addr.Addr
}

// ReceiveFrom is recvfrom(2). p must not be empty. flags are MSG_ values.
//
//go:nosplit
func (s Sock) ReceiveFrom(p []byte, flags int, from *Source) (int, unix.Errno) {
	size := uint32(unix.SizeofSockaddrInet6)
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags),
		uintptr(unsafe.Pointer(&from.addr)), uintptr(unsafe.Pointer(&size)))
	return int(n), e
}
