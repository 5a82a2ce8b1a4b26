package ether

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// A timer wakes its thread late: by 10 to 60 us on virtual machines, whose idle CPUs
// the host has to wake first, and by some us on others. So a sleep ends a margin
// before the frame is due, and the rest is spent reading the clock and looking for
// frames. The margin follows the lateness that is seen: up at once, down slowly.
const (
	firstMargin = 60_000 // ns
	leastMargin = 5_000
	mostMargin  = 100_000
	downShift   = 6 // a 64th of the way at a time
	// A poll can be late by a thousandth of its time besides
	// (select_estimate_accuracy in fs/select.c).
	pollShift = 9
	// A wait for more frames is left to the timer alone, which is set early by what it
	// is late on the mean; that follows the latest 16 or so.
	biasShift = 4
)

// burst is the most frames that are written before the thread looks for new ones.
const burst = 64

// run carries frames on the calling, locked thread until the TAP is gone.
func (l *line) run() error {
	for {
		if e := l.step(); e != 0 {
			return fmt.Errorf("read a frame: %w (the interface is gone?)", e)
		}
	}
}

// step does one thing: sees to a frame that was read, or writes what is due, or
// reads, or waits. With nothing in the line it waits for a frame as a pipe without
// a line does.
//
//go:nosplit
func (l *line) step() unix.Errno {
	if l.got > 0 {
		l.take()
		return 0
	}
	if l.head == l.tail && l.aside.size == 0 {
		l.running = false
		return l.read.wait()
	}
	now := sys.Nanotime()
	next, spin := l.next()
	if !spin {
		next -= l.bias // the timer will be late by that
	}
	if now >= next {
		l.act(now)
		return 0
	}
	l.running = false
	space := l.space() != nil
	if space {
		if e := l.read.glance(); e != unix.EAGAIN {
			return e
		}
	}
	left := next - now
	if spin {
		left -= l.margin
	}
	if left -= left >> pollShift; left > 0 {
		l.sleep(now, left, space)
	}
	return 0
}

// next is when there is something to do, and whether it is to be done to the
// microsecond: a frame that has waited for others to be sent is not, since it is
// late by more already and what follows it does not move; nor is a wait for more
// frames, which a network card leaves to a timer, too: a thread that looked at the
// clock meanwhile would take the CPU time that the wait is to save.
//
//go:nosplit
func (l *line) next() (at int64, spin bool) {
	if l.head == l.tail {
		return l.aside.until(), false
	}
	oldest := l.slot(l.tail)
	if at, spin = l.release(), !oldest.queued && l.wait == 0; l.aside.size > 0 && l.aside.until() < at {
		return l.aside.until(), false
	}
	return at, spin
}

// release is when the next handler run is due.
//
//go:nosplit
func (l *line) release() int64 {
	at := l.slot(l.tail).due
	if l.frames == 0 {
		return at
	}
	at += l.wait
	if l.head-l.tail >= l.frames {
		at = min(at, l.slot(l.tail+l.frames-1).due)
	}
	return at
}

// act does what there is to do by now.
//
//go:nosplit
func (l *line) act(now int64) {
	if l.aside.size > 0 && now >= l.aside.until() {
		l.enterAside(now)
	}
	if l.head == l.tail {
		return
	}
	due, most := l.release(), uint64(burst)
	if l.wait == 0 && now < due || now < due-l.bias {
		return
	}
	if l.frames > 0 {
		most = l.frames
	}
	if l.frames > 0 || !l.running {
		l.count.add(Runs, 1)
	}
	l.running = true
	for n := uint64(0); n < most && l.head != l.tail && l.slot(l.tail).due <= max(now, due); n++ {
		now = l.write(due)
	}
	if l.hand != nil {
		l.hand.flush()
	}
}

// write writes the oldest frame, which was to be handed over at due, or when it was
// due itself, whichever is later. It returns when it began.
//
//go:nosplit
func (l *line) write(due int64) int64 {
	s := l.slot(l.tail)
	now := sys.Nanotime()
	if p := l.buf[s.at : s.at+s.size]; l.hand != nil {
		l.hand.deliver(p)
	} else {
		l.out.deliver(p)
	}
	l.count.add(lateBucket(now-max(due, s.due)), 1)
	l.count.add(HeldFrames, 1)
	l.count.add(HeldNS, int(now-s.came))
	l.tail++
	return now
}

// lateBucket is the count that a frame falls into which was written so many ns
// after it was due.
//
//go:nosplit
func lateBucket(ns int64) Count {
	for k := range lateBounds {
		if ns <= lateBounds[k] {
			return Late + Count(k)
		}
	}
	return Late + Count(len(lateBounds))
}

// sleep sleeps for so long, or until a frame comes if there is space for one.
//
//go:nosplit
func (l *line) sleep(now, left int64, space bool) {
	if space {
		if ready, e := sys.Sock(l.read.from).Wait(unix.POLLIN, left); ready || e != 0 {
			return
		}
	} else {
		sys.SleepUntil(now + left)
	}
	late := sys.Nanotime() - now - left
	if late > l.margin {
		l.margin = late + late/4
	} else {
		l.margin -= (l.margin - late) >> downShift
	}
	l.margin = min(max(l.margin, leastMargin), mostMargin)
	if l.wait > 0 {
		l.bias += (late - l.bias) >> biasShift
		l.bias = min(max(l.bias, 0), l.wait/2, mostMargin)
	}
}

// glance passes a frame if there is one, and says EAGAIN if not. Where the kernel
// cannot read without waiting it asks first: nobody else reads.
//
//go:nosplit
func (p *pipe) glance() unix.Errno {
	buf := p.next.buffer()
	var n int
	var e unix.Errno
	if p.try {
		n, e = sys.TryRead(p.from, buf)
	} else {
		ready, failed := sys.Sock(p.from).Wait(unix.POLLIN, 0)
		if failed != 0 || !ready {
			return unix.EAGAIN
		}
		n, e = sys.Read(p.from, buf)
	}
	switch {
	case e == unix.EINTR:
		return 0
	case e != 0:
		return e
	case n == 0:
		return unix.EBADFD
	}
	p.take(buf[:n])
	return 0
}
