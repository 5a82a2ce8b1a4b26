package ether

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// sampleEvery is the frames from one batch that is looked at to the next; a
// prime, so as not to fall in step with the traffic.
const sampleEvery = 61

// pipe is one direction of a wire: it reads the frames that one TAP's kernel
// sends and passes them to its stage.
//
// Every read waits. A read that does not (RWF_NOWAIT) would tell where each
// batch ends, but it comes between the last frame and the thread's sleep, and
// where CPUs are few whoever was sent the frame waits for that: switched on
// and off every few milliseconds under one ping-pong, on 2 CPUs, it made the
// round trip 4% longer (1.0 to 1.5 us of 31 to 45) in every context; streams
// gained nothing. So only some batches are looked at, and the thread's sleeps
// are counted by the kernel.
type pipe struct {
	from  int
	frame framer
	next  stage
	// try is false where the kernel cannot read without waiting.
	try bool
	// until is the frames to pass before the next batch is looked at.
	until int
	count *tally
}

// run carries frames on the calling, locked thread until the TAP is gone.
func (p *pipe) run() error {
	for {
		if e := p.step(); e != 0 {
			return fmt.Errorf("read a frame: %w (the interface is gone?)", e)
		}
	}
}

// step waits for a frame and passes it. Now and then it also looks at a
// batch.
//
//go:nosplit
func (p *pipe) step() unix.Errno {
	e := p.wait()
	if e != 0 || !p.try {
		return e
	}
	if p.until > 0 {
		p.until--
		return 0
	}
	return p.sample()
}

// sample counts the size of one batch: all frames that are passed from one
// wait for a frame to the next.
//
//go:nosplit
func (p *pipe) sample() unix.Errno {
	// To the end of the batch that is under way, wherever it began.
	if _, e := p.drain(); e != 0 {
		return e
	}
	if e := p.wait(); e != 0 {
		return e
	}
	n, e := p.drain()
	p.count.add(batchBucket(1+n), 1)
	p.until = sampleEvery
	return e
}

// wait waits for a frame and passes it.
//
//go:nosplit
func (p *pipe) wait() unix.Errno {
	for {
		buf := p.next.buffer()
		n, e := sys.Read(p.from, buf)
		switch {
		case e == unix.EINTR:
			continue
		case e != 0:
			return e
		case n == 0: // end of file: a TAP has none
			return unix.EBADFD
		}
		p.take(buf[:n])
		return 0
	}
}

// drain passes the frames that are there and counts them.
//
//go:nosplit
func (p *pipe) drain() (int, unix.Errno) {
	for frames := 0; ; {
		buf := p.next.buffer()
		n, e := sys.TryRead(p.from, buf)
		switch {
		case e == unix.EAGAIN:
			return frames, 0
		case e == unix.EINTR:
			continue
		case e != 0:
			return frames, e
		case n == 0:
			return frames, unix.EBADFD
		}
		frames++
		p.take(buf[:n])
	}
}

// take counts one frame and passes it on if it may pass.
//
//go:nosplit
func (p *pipe) take(frame []byte) {
	p.count.add(FramesIn, 1)
	p.count.add(BytesIn, max(len(frame)-p.frame.header, 0))
	if !p.frame.fits(frame) {
		p.count.add(DropTooLong, 1)
		return
	}
	p.next.pass(len(frame))
}

// probe finds out whether the descriptor can be read without waiting
// (RWF_NOWAIT; a TAP since Linux 5.9). A frame that it finds is passed.
func (p *pipe) probe() {
	buf := p.next.buffer()
	n, e := sys.TryRead(p.from, buf)
	switch {
	case e == unix.EOPNOTSUPP, e == unix.EINVAL, e == unix.ENOSYS:
		p.try = false
	case e == 0 && n > 0:
		p.take(buf[:n])
	}
}
