package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// zeroCopyReceive is struct tcp_zerocopy_receive of linux/tcp.h.
type zeroCopyReceive struct {
	address     uint64 // in: of the mapping
	length      uint32 // in: bytes of it; out: of which have been mapped
	skip        uint32 // out: the bytes that can't be mapped and come next
	inQueue     uint32 // out
	err         int32  // out: the socket's error, negative
	copyAddress uint64 // in: of a buffer for what is less than a page
	copyLength  int32  // in: bytes of it; out: of which have been filled
	flags       uint32
	control     uint64
	controlLen  uint64
	msgFlags    uint32
	reserved    uint32
}

// copied says whether the kernel, which says that it has so many bytes of the
// struct, has copyLength: before Linux 5.11 it does not.
//
//go:nosplit
func (a *zeroCopyReceive) copied(size uint32) bool {
	return uintptr(size) >= unsafe.Offsetof(a.copyLength)+unsafe.Sizeof(a.copyLength)
}

// ZeroCopyReceiver receives a TCP stream by TCP_ZEROCOPY_RECEIVE: the kernel
// maps the pages that the data came in to where a mapping of the socket is.
// That can only be done with whole pages. It is used by one thread.
type ZeroCopyReceiver struct {
	sock    Sock
	mapping []byte
	rest    []byte
	arg     zeroCopyReceive
}

// NewZeroCopyReceiver maps size bytes, a multiple of the page size, to a TCP
// socket. ENODEV says that a kernel can't.
func NewZeroCopyReceiver(s Sock, size int) (*ZeroCopyReceiver, error) {
	mapping, e := Map(int(s), 0, size, 0)
	if e != 0 {
		return nil, e
	}
	return &ZeroCopyReceiver{sock: s, mapping: mapping, rest: make([]byte, unix.Getpagesize())}, nil
}

// Receive maps and copies what there is, in this order, and never waits: it is
// all 0 if there is nothing. mapped bytes are at the beginning of Mapping until
// the next call, and copied ones, of which there are less than a page, at that
// of Rest. skip is how many bytes come next that can't be mapped and are to be
// received otherwise. EIO is the end of the stream, EOPNOTSUPP a kernel that
// copies nothing and so leaves Rest alone.
//
//go:nosplit
func (r *ZeroCopyReceiver) Receive() (mapped, copied, skip int, errno unix.Errno) {
	r.arg = zeroCopyReceive{
		address: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.mapping)))), length: uint32(len(r.mapping)),
		copyAddress: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.rest)))), copyLength: int32(len(r.rest)),
	}
	size := uint32(unsafe.Sizeof(r.arg))
	_, _, e := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(r.sock), unix.IPPROTO_TCP, unix.TCP_ZEROCOPY_RECEIVE,
		uintptr(unsafe.Pointer(&r.arg)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return 0, 0, 0, e
	}
	if !r.arg.copied(size) {
		return 0, 0, 0, unix.EOPNOTSUPP
	}
	if r.arg.err != 0 {
		errno = unix.Errno(-r.arg.err)
	}
	// A negative copyLength is an error of copying: the bytes are still there.
	return int(r.arg.length), max(0, int(r.arg.copyLength)), int(r.arg.skip), errno
}

// Mapping is where pages are mapped.
func (r *ZeroCopyReceiver) Mapping() []byte { return r.mapping }

// Rest is where what is less than a page is copied.
func (r *ZeroCopyReceiver) Rest() []byte { return r.rest }

// Close gives the mapping up, but not the socket.
func (r *ZeroCopyReceiver) Close() error {
	m := r.mapping
	r.mapping = nil
	if e := Unmap(m); e != 0 {
		return e
	}
	return nil
}
