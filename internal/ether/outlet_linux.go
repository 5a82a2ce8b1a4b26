package ether

import (
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// outlet is a TAP that frames are written to.
type outlet struct {
	fd     int
	header int // bytes before each frame
	// bounded says that the TAP's queue has a bound to be waited at.
	bounded bool
	// pieces says that the TAP takes frames in page fragments.
	pieces *sys.Pieces
	count  *tally
}

// deliver writes one frame and counts what became of it.
//
//go:nosplit
func (o *outlet) deliver(p []byte) {
	for {
		e := o.write(p)
		switch e {
		case 0:
			o.count.add(FramesOut, 1)
			o.count.add(BytesOut, len(p)-o.header)
			return
		case unix.EINTR:
			continue
		}
		o.count.add(dropCause(e), 1)
		return
	}
}

// roomTime is the longest wait for room in a TAP's queue before another try:
// an interface that is set down meanwhile says nothing to those who wait.
const roomTime = 100 * time.Millisecond

// write writes one frame, and waits while the TAP's queue is at its bound.
//
// A write that simply blocks there would hang: a TAP wakes only writers that
// have polled it (tun_sock_write_space in drivers/net/tun.c looks for the
// mark that its poll leaves). So this one does not block, and polls when
// there is no room.
//
//go:nosplit
func (o *outlet) write(p []byte) unix.Errno {
	if o.pieces != nil {
		_, e := o.pieces.Write(o.fd, p, o.header+headers(p[o.header:]))
		return e
	}
	if !o.bounded {
		_, e := sys.Write(o.fd, p)
		return e
	}
	for {
		_, e := sys.TryWrite(o.fd, p)
		switch e {
		case unix.EAGAIN:
			sys.WaitWritable(o.fd, int64(roomTime)) // whatever ends it, try again
			continue
		case unix.EOPNOTSUPP: // Linux before 5.9: ask first; nobody else writes
			sys.WaitWritable(o.fd, int64(roomTime))
			_, e = sys.Write(o.fd, p)
		}
		return e
	}
}

// dropCause classifies a TAP's refusal of a frame (drivers/net/tun.c).
//
//go:nosplit
func dropCause(e unix.Errno) Count {
	switch e {
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
		return DropQueueFull
	case unix.EIO, unix.ENETDOWN: // the interface is down
		return DropLinkDown
	case unix.EINVAL, unix.EMSGSIZE: // no frame, or a header that lies about it
		return DropRefused
	case unix.EBADFD, unix.EBADF, unix.EPIPE, unix.EFAULT, unix.ECONNRESET: // the interface is gone
		return DropPortGone
	}
	return DropOther
}
