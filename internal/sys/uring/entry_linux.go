package uring

import "unsafe"

// SQE is an operation: struct io_uring_sqe of linux/io_uring.h, 64 bytes, its
// unions under the names that these operations have for them.
type SQE struct {
	opcode      uint8
	flags       uint8 // IOSQE_
	ioprio      uint16
	fd          int32
	off         uint64
	addr        uint64
	length      uint32
	opFlags     uint32 // MSG_, or IORING_ASYNC_CANCEL_
	userData    uint64
	buffer      uint16 // buf_index or buf_group
	personality uint16
	fileIndex   int32
	addr3       uint64
	_           uint64
}

// Op is an operation's number: enum io_uring_op.
type Op uint8

// The operations that there are methods for.
const (
	OpNop         Op = 0
	OpAsyncCancel Op = 14 // Linux 5.5
	OpSend        Op = 26 // Linux 5.6
	OpRecv        Op = 27 // Linux 5.6
	OpSendZC      Op = 47 // Linux 6.0
)

const (
	sqeLink         = 1 << 2 // IOSQE_IO_LINK
	sqeBufferSelect = 1 << 5 // IOSQE_BUFFER_SELECT

	recvMultishot     = 1 << 1 // IORING_RECV_MULTISHOT, Linux 6.0
	sendFixedBuf      = 1 << 2 // IORING_RECVSEND_FIXED_BUF
	sendZCReportUsage = 1 << 3 // IORING_SEND_ZC_REPORT_USAGE, Linux 6.2

	cancelAll = 1 << 0 // IORING_ASYNC_CANCEL_ALL, Linux 5.19
	cancelAny = 1 << 2 // IORING_ASYNC_CANCEL_ANY, Linux 5.19
)

// Nop does nothing.
//
//go:nosplit
func (s *SQE) Nop(data uint64) {
	*s = SQE{opcode: uint8(OpNop), fd: -1, userData: data}
}

// Send is send(2) on a connected socket, with MSG_ flags; the kernel adds
// MSG_NOSIGNAL. It waits for room. A stream may take a part only, unless flags
// have MSG_WAITALL. p must not change before the completion.
//
//go:nosplit
func (s *SQE) Send(fd int, p []byte, flags uint32, data uint64) {
	*s = SQE{opcode: uint8(OpSend), fd: int32(fd), opFlags: flags, userData: data}
	s.over(p)
}

// SendZC is Send without copying, of memory that Buffers has fixed. A
// completion that has More is followed by a notice, before which p must not
// change.
//
//go:nosplit
func (s *SQE) SendZC(fd int, p []byte, flags uint32, data uint64) {
	*s = SQE{opcode: uint8(OpSendZC), fd: int32(fd), opFlags: flags, userData: data, ioprio: sendFixedBuf | sendZCReportUsage}
	s.over(p)
}

// Recv is recv(2), with MSG_ flags. It waits for data. p must not be used
// before the completion.
//
//go:nosplit
func (s *SQE) Recv(fd int, p []byte, flags uint32, data uint64) {
	*s = SQE{opcode: uint8(OpRecv), fd: int32(fd), opFlags: flags, userData: data}
	s.over(p)
}

// RecvAll is recv(2) over and over again, each time into a buffer of the pool:
// a completion each, until one that does not have More. That one is an error,
// or the end of a stream (0), or the pool was empty (ENOBUFS).
//
//go:nosplit
func (s *SQE) RecvAll(fd int, pool *Pool, data uint64) {
	*s = SQE{opcode: uint8(OpRecv), flags: sqeBufferSelect, ioprio: recvMultishot, fd: int32(fd), buffer: pool.group, userData: data}
}

// CancelAll ends all operations of the ring that the kernel has not finished:
// they complete with ECANCELED, or a part done.
//
//go:nosplit
func (s *SQE) CancelAll(data uint64) {
	*s = SQE{opcode: uint8(OpAsyncCancel), fd: -1, opFlags: cancelAll | cancelAny, userData: data}
}

// Link has the operation that is pushed next begin when this one has succeeded;
// otherwise that one, and what is linked to it, completes with ECANCELED. A
// chain must be handed over in one call of Enter.
//
//go:nosplit
func (s *SQE) Link() { s.flags |= sqeLink }

//go:nosplit
func (s *SQE) over(p []byte) {
	s.addr, s.length = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), uint32(len(p))
}

// CQE is a completion: struct io_uring_cqe of linux/io_uring.h.
type CQE struct {
	// Data is what the operation was pushed with.
	Data uint64
	// Res is what the system call would have returned, or a negative errno.
	Res   int32
	flags uint32 // IORING_CQE_F_
}

const (
	cqeBuffer   = 1 << 0 // IORING_CQE_F_BUFFER
	cqeMore     = 1 << 1 // IORING_CQE_F_MORE
	cqeNotif    = 1 << 3 // IORING_CQE_F_NOTIF
	bufferShift = 16     // IORING_CQE_BUFFER_SHIFT

	notifCopied = 1 << 31 // IORING_NOTIF_USAGE_ZC_COPIED
)

// More says that the operation has further completions to come.
//
//go:nosplit
func (c *CQE) More() bool { return c.flags&cqeMore != 0 }

// Notice says that this is the second completion of a SendZC: the kernel does
// not need the memory any longer. Copied says whether it copied it all the same.
//
//go:nosplit
func (c *CQE) Notice() (notice, copied bool) {
	return c.flags&cqeNotif != 0, uint32(c.Res)&notifCopied != 0
}

// Buffer is the number of the pool's buffer that was filled, if one was.
//
//go:nosplit
func (c *CQE) Buffer() (id uint16, filled bool) {
	return uint16(c.flags >> bufferShift), c.flags&cqeBuffer != 0
}
