package sys

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamper sends and receives on a socket with timestamps (SO_TIMESTAMPING, socket(7),
// Documentation/networking/timestamping.rst). What is received on the socket is stamped
// from now on, which only Recv tells of; what is sent is stamped by Send alone. It is
// used by one thread, and its methods allocate nothing.
type Stamper struct {
	Sock   Sock
	header unix.Msghdr
	vector unix.Iovec
	asked  askedStamps
	told   toldStamps
}

// askedStamps is the control message that has one message stamped.
type askedStamps struct {
	header unix.Cmsghdr
	flags  uint32
	_      [4]byte
}

// toldStamps is room for what comes with a message: its timestamps, and of the error
// queue which they are.
type toldStamps struct{ room [256]byte }

const stampSent = unix.SOF_TIMESTAMPING_TX_SCHED | unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_TX_ACK | unix.SOF_TIMESTAMPING_TX_HARDWARE

// NewStamper has what comes in stamped. Timestamps of what is sent bring nothing back
// of the message itself, and so need no privilege (net.core.tstamp_allow_data).
func NewStamper(s Sock) (*Stamper, error) {
	const flags = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE |
		unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_OPT_TSONLY | unix.SOF_TIMESTAMPING_OPT_TX_SWHW
	if err := unix.SetsockoptInt(int(s), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags); err != nil {
		return nil, fmt.Errorf("have a socket's messages stamped (SO_TIMESTAMPING): %w", err)
	}
	t := &Stamper{Sock: s}
	t.asked.header.Level, t.asked.header.Type = unix.SOL_SOCKET, unix.SO_TIMESTAMPING
	t.asked.header.SetLen(unix.CmsgLen(4))
	t.asked.flags = stampSent
	return t, nil
}

// Send is Sock.Send of a message that is to be stamped. Where the kernel refuses that
// it is sent without.
//
//go:nosplit
func (t *Stamper) Send(p []byte, flags int) (int, unix.Errno) {
	t.point(p)
	t.header.Control = (*byte)(unsafe.Pointer(&t.asked))
	t.header.SetControllen(int(unsafe.Sizeof(t.asked)))
	n, _, e := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(t.Sock), uintptr(unsafe.Pointer(&t.header)), uintptr(flags))
	if e == unix.EINVAL {
		return t.Sock.Send(p, flags)
	}
	return int(n), e
}

// Recv is Sock.Recv, and tells when what it brought had come in.
//
//go:nosplit
func (t *Stamper) Recv(p []byte, flags int, times *StampTimes) (int, unix.Errno) {
	t.point(p)
	t.header.Control = &t.told.room[0]
	t.header.SetControllen(len(t.told.room))
	n, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(t.Sock), uintptr(unsafe.Pointer(&t.header)), uintptr(flags))
	if e == 0 {
		t.read(times, StampReceived, StampHardwareReceived)
	}
	return int(n), e
}

// Collect reads the timestamps of what was sent, which are in the socket's error queue.
// It never waits.
func (t *Stamper) Collect(times *StampTimes) {
	for range 2 * int(Stamps) {
		t.point(nil)
		t.header.Control = &t.told.room[0]
		t.header.SetControllen(len(t.told.room))
		if _, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(t.Sock), uintptr(unsafe.Pointer(&t.header)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); e != 0 {
			return
		}
		t.read(times, StampSent, StampHardwareSent)
	}
}

//go:nosplit
func (t *Stamper) point(p []byte) {
	t.header.Flags = 0
	t.header.Iov = nil
	t.header.SetIovlen(0)
	if len(p) > 0 {
		t.vector.Base = unsafe.SliceData(p)
		t.vector.SetLen(len(p))
		t.header.Iov = &t.vector
		t.header.SetIovlen(1)
	}
}

// read takes the timestamps from the control messages of the latest call: soft and hard
// say which those are, unless it came from the error queue.
//
//go:nosplit
func (t *Stamper) read(times *StampTimes, soft, hard Stamp) {
	var at [3]unix.Timespec
	for place, end := 0, min(int(t.header.Controllen), len(t.told.room)); place+unix.SizeofCmsghdr <= end; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&t.told.room[place]))
		length := int(h.Len)
		if length < unix.SizeofCmsghdr || place+length > end {
			break
		}
		body := unsafe.Pointer(uintptr(unsafe.Pointer(h)) + uintptr(unix.CmsgLen(0)))
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPING && length >= unix.CmsgLen(int(unsafe.Sizeof(at))):
			at = *(*[3]unix.Timespec)(body)
		case errQueue(h.Level, h.Type) && length >= unix.CmsgLen(int(unsafe.Sizeof(unix.SockExtendedErr{}))):
			e := (*unix.SockExtendedErr)(body)
			if e.Origin != unix.SO_EE_ORIGIN_TIMESTAMPING {
				return
			}
			switch e.Info {
			case unix.SCM_TSTAMP_SCHED:
				soft = StampScheduled
			case unix.SCM_TSTAMP_ACK:
				soft = StampAcknowledged
			}
		}
		place += unix.CmsgSpace(length - unix.CmsgLen(0))
	}
	if ns := at[0].Nano(); ns != 0 {
		times[soft] = ns
	}
	if ns := at[2].Nano(); ns != 0 {
		times[hard] = ns
	}
}

func realtime() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &ts)
	return ts.Nano()
}
