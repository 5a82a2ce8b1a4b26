package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reply has each datagram of a batch that is sent go where the one at its place
// among those that were received came from. Both batches are of the same
// length, and asked has room for sources; its sockets are of IPv4, or of IPv6.
func (m *Messages) Reply(asked *Messages, ipv4 bool) {
	size := uint32(unix.SizeofSockaddrInet6)
	if ipv4 {
		size = unix.SizeofSockaddrInet4
	}
	for i := range m.headers {
		m.headers[i].Hdr.Name = (*byte)(unsafe.Pointer(&asked.sources[i].addr))
		m.headers[i].Hdr.Namelen = size
	}
}
