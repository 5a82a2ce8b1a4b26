package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Messages is a batch of datagrams for sendmmsg(2) or recvmmsg(2), with all
// that the kernel reads and writes beside their payload. It is made once, for
// one direction, and used by one thread.
type Messages struct {
	headers  []unix.Mmsghdr
	vectors  []unix.Iovec
	sources  []Source
	segments []segmentSize
	dirty    int // so many headers have what the latest receive wrote to them
}

// segmentSize is a control message with a UDP_GRO in it, the only one that a
// socket gets that asks for no other (udp(7)).
type segmentSize struct {
	header unix.Cmsghdr
	size   int32
}

// NewMessages returns a batch with a datagram in each buffer. None is empty.
func NewMessages(buffers [][]byte) *Messages {
	m := &Messages{headers: make([]unix.Mmsghdr, len(buffers)), vectors: make([]unix.Iovec, len(buffers))}
	for i, b := range buffers {
		m.vectors[i].Base = unsafe.SliceData(b)
		m.vectors[i].SetLen(len(b))
		m.headers[i].Hdr.Iov = &m.vectors[i]
		m.headers[i].Hdr.SetIovlen(1)
	}
	return m
}

// WithSources makes room for where each datagram that is received came from.
func (m *Messages) WithSources() {
	m.sources = make([]Source, len(m.headers))
	for i := range m.sources {
		m.headers[i].Hdr.Name = (*byte)(unsafe.Pointer(&m.sources[i].addr))
		m.headers[i].Hdr.Namelen = unix.SizeofSockaddrInet6
	}
}

// WithSegments makes room for the size of the segments of each datagram that
// is received on a socket that has UDP_GRO.
func (m *Messages) WithSegments() {
	m.segments = make([]segmentSize, len(m.headers))
	for i := range m.segments {
		m.headers[i].Hdr.Control = (*byte)(unsafe.Pointer(&m.segments[i]))
	}
	m.dirty = len(m.headers)
}

// SetLength has the ith datagram that is sent be the first n bytes, 1 and up,
// of its buffer.
//
//go:nosplit
func (m *Messages) SetLength(i, n int) { m.vectors[i].SetLen(n) }

// Length is the bytes of the ith datagram that was received.
//
//go:nosplit
func (m *Messages) Length(i int) int { return int(m.headers[i].Len) }

// Source is where the ith datagram that was received came from.
//
//go:nosplit
func (m *Messages) Source(i int) *Source { return &m.sources[i] }

// Segment is the size in bytes of the datagrams of which the kernel made the
// ith that was received; the last of them may be shorter. 0 is a datagram that
// came alone.
//
//go:nosplit
func (m *Messages) Segment(i int) int {
	s := &m.segments[i]
	if m.headers[i].Hdr.Controllen == 0 || s.header.Level != unix.SOL_UDP || s.header.Type != unix.UDP_GRO {
		return 0
	}
	return int(s.size)
}

// SendMessages is sendmmsg(2) of the datagrams from to to-1. It returns how
// many the kernel took, with an error only if it took none.
//
//go:nosplit
func (s Sock) SendMessages(m *Messages, from, to, flags int) (int, unix.Errno) {
	part := m.headers[from:to]
	n, _, e := syscall.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)), uintptr(flags), 0, 0)
	if e != 0 {
		n = 0
	}
	return int(n), e
}

// ReceiveMessages is recvmmsg(2) into the whole batch. With MSG_WAITFORONE it
// waits for the first datagram only. It returns how many came, with an error
// only if none did.
//
//go:nosplit
func (s Sock) ReceiveMessages(m *Messages, flags int) (int, unix.Errno) {
	if m.segments != nil {
		for i := range m.headers[:m.dirty] {
			m.headers[i].Hdr.SetControllen(int(unsafe.Sizeof(segmentSize{})))
		}
	}
	n, _, e := syscall.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(m.headers))), uintptr(len(m.headers)), uintptr(flags), 0, 0)
	if e != 0 {
		n = 0
	}
	m.dirty = int(n)
	return int(n), e
}
