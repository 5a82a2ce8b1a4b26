package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ZeroCopyRange is sends with MSG_ZEROCOPY that the kernel has done with, so
// that their memory may be written to again. It counts the successful ones of a
// socket from 0; the number wraps at 2^32. First to Last are inclusive.
type ZeroCopyRange struct {
	First, Last uint32
	Copied      bool // the kernel copied all the same
}

// Count is how many sends it is.
//
//go:nosplit
func (r *ZeroCopyRange) Count() uint32 { return r.Last - r.First + 1 }

// completion is a control message of a socket's error queue: a struct
// sock_extended_err of linux/errqueue.h, and for IP an address.
type completion struct {
	header unix.Cmsghdr
	err    unix.SockExtendedErr
	_      [unix.SizeofSockaddrInet6]byte
	_      [64]byte // others that may follow
}

// ZeroCopyDone reads the next range from the socket's error queue. It never
// waits: with nothing there it returns EAGAIN. Something else that was there
// counts as a range of nothing, and with it ok is false.
// Documentation/networking/msg_zerocopy.rst has the protocol.
//
//go:nosplit
func (s Sock) ZeroCopyDone(r *ZeroCopyRange) (ok bool, errno unix.Errno) {
	var c completion
	var h unix.Msghdr
	h.Control = (*byte)(unsafe.Pointer(&c))
	h.SetControllen(int(unsafe.Sizeof(c)))
	if _, _, e := syscall.RawSyscall6(unix.SYS_RECVMSG, uintptr(s), uintptr(unsafe.Pointer(&h)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT, 0, 0, 0); e != 0 {
		return false, e
	}
	if int(h.Controllen) < unix.CmsgLen(int(unsafe.Sizeof(c.err))) || !errQueue(c.header.Level, c.header.Type) ||
		c.err.Errno != 0 || c.err.Origin != unix.SO_EE_ORIGIN_ZEROCOPY {
		return false, 0
	}
	r.First, r.Last, r.Copied = c.err.Info, c.err.Data, c.err.Code&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0
	return true, 0
}

func errQueue(level, kind int32) bool {
	return level == unix.SOL_IP && kind == unix.IP_RECVERR || level == unix.SOL_IPV6 && kind == unix.IPV6_RECVERR
}
