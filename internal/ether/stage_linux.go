package ether

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// stage is what a pipe passes its frames to. The stage lends the room that
// the next frame is read into, so that no frame is copied in user space.
//
// The stages' methods are nosplit: the Go scheduler flags every thread that
// has held its P for 10 ms, also one that was blocked in a read, and would
// take the thread away at the next function entry that looks.
type stage interface {
	// buffer lends the room for one frame.
	buffer() []byte
	// pass takes the frame in the first n bytes of the room last lent.
	pass(n int)
}

// direct writes each frame to the far TAP at once, on the pipe's own thread.
type direct struct {
	to    int
	frame framer
	buf   []byte
	count *tally
}

func newDirect(to int, f framer, count *tally) *direct {
	return &direct{to: to, frame: f, buf: make([]byte, f.room), count: count}
}

//go:nosplit
func (d *direct) buffer() []byte { return d.buf }

//go:nosplit
func (d *direct) pass(n int) { deliver(d.to, d.buf[:n], d.frame.header, d.count) }

// deliver writes one frame to a TAP and counts what became of it.
//
//go:nosplit
func deliver(to int, p []byte, header int, count *tally) {
	for {
		_, e := sys.Write(to, p)
		switch e {
		case 0:
			count.add(FramesOut, 1)
			count.add(BytesOut, len(p)-header)
			return
		case unix.EINTR:
			continue
		}
		count.add(dropCause(e), 1)
		return
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
