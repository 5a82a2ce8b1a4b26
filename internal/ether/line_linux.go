package ether

import (
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// line is a delay line: a stage that holds each frame until it is due, and the
// loop that reads frames, waits and writes (lineloop_linux.go). It has no thread of
// its own: what is due is written by the thread that reads, so that no wake-up is
// added. Nothing is allocated once it is made, and all its methods are nosplit, as
// those of other stages are.
type line struct {
	read *pipe
	// out is where frames go to, or hand if a second thread writes them.
	out   *outlet
	hand  *handoff
	frame framer
	count *tally

	arena
	lent []byte
	// got is the bytes of a frame that was read into lent, 0 for none, and came is
	// when.
	got   int
	came  int64
	slots []slot // a power of two
	// head counts the frames put in, tail those taken out, and begun those whose
	// transmission has begun.
	head, tail, begun uint64

	delay int64 // ns
	rate  int64 // bit/s, 0 for none
	queue uint64
	// free is when the line has sent what is in it, and rest what that is too
	// early, in parts of a ns, each as long as a bit is at 1 Gbit/s / rate.
	free, rest int64

	loss, duplicate, reorder pick
	aside                    aside

	// frames are the most of a handler run, and wait is how long the first of them
	// waits in ns; 0 frames for no mitigation.
	frames uint64
	wait   int64
	// running says that nothing was waited for since the last frame was written.
	running bool

	// margin is how long before a due time the thread ends its sleep, in ns.
	margin int64
	// bias is how late a timer is on the mean, in ns, where waits are left to it; 0
	// where they are not.
	bias int64
}

// slot is a frame in the line.
type slot struct {
	at, size int
	came     int64 // when it was read
	begin    int64 // when its transmission begins
	due      int64
	queued   bool // it waits for others to be sent
}

// newLine makes the delay line of a wire that is not plain. The pipe's frames go
// into it.
func newLine(w spec.Wire, seed uint64, p *pipe, out *outlet, hand *handoff) *line {
	l := &line{
		read: p, out: out, hand: hand, frame: p.frame, count: p.count,
		delay: int64(w.Delay), rate: w.Rate, queue: uint64(w.Waiting()),
		loss: newPick(w.Loss, seed), duplicate: newPick(w.Duplicate, seed+1), reorder: newPick(w.Reorder, seed+2),
		aside:  aside{buf: make([]byte, p.frame.room)},
		margin: firstMargin,
	}
	if w.Frames > 1 || w.Frames == 0 && w.Wait > 0 {
		l.frames, l.wait = uint64(w.Frames), int64(w.Wait)
		if w.Frames == 0 {
			l.frames = spec.MaxWireFrames
		}
	}
	bytes, slots := lineSize(w, p.frame.room)
	l.arena, l.slots = newArena(p.frame.room, bytes), make([]slot, slots)
	l.arena.touch()
	p.next = l
	return l
}

// bare says that each frame is written as soon as it is read. Where a burst of them
// ends only the kernel knows then, which counts the thread's sleeps.
func (l *line) bare() bool { return l.delay == 0 && l.rate == 0 && l.frames == 0 }

// buffer lends the room for the next frame: there must be some.
//
//go:nosplit
func (l *line) buffer() []byte {
	l.lent = l.space()
	return l.lent
}

// space is the room for the next frame, nil if the line is full.
//
//go:nosplit
func (l *line) space() []byte {
	switch {
	case l.head == l.tail:
		return l.empty()
	case l.head-l.tail == uint64(len(l.slots)):
		return nil
	}
	return l.behind(l.slot(l.tail).at)
}

//go:nosplit
func (l *line) slot(n uint64) *slot { return &l.slots[n&uint64(len(l.slots)-1)] }

// pass takes the frame that was read into the room last lent: the next step is to
// see to it. Were all done here, one call in the other, the stack would not do.
//
//go:nosplit
func (l *line) pass(n int) { l.got, l.came = n, sys.Nanotime() }

// take decides what becomes of the frame that has come.
//
//go:nosplit
func (l *line) take() {
	p, now := l.lent[:l.got], l.came
	l.got = 0
	if !known(p[l.frame.header:]) {
		l.enter(p, now, now)
		return
	}
	l.count.add(KnownFrames, 1)
	if l.loss.hit() {
		l.count.add(DropLoss, 1)
		return
	}
	twice, behind := l.duplicate.hit(), l.reorder.hit()
	if behind && l.aside.size == 0 {
		l.aside.put(p, now, twice)
		return
	}
	l.enter(p, now, now)
	if twice {
		l.count.add(Duplicated, 1)
		l.enter(p, now, now)
	}
	if l.aside.size > 0 {
		l.count.add(Reordered, 1)
		l.enterAside(now)
	}
}

// enter puts a frame into the line, and works out when it is due. It lies in the
// room last lent, or is copied.
//
//go:nosplit
func (l *line) enter(p []byte, now, came int64) {
	to := l.space()
	if to == nil {
		l.count.add(DropQueue, 1)
		return
	}
	begin, sent := now, now
	if l.rate > 0 {
		if begin = max(now, l.free); begin == now {
			l.rest = 0
		} else if l.waiting(now) >= l.queue {
			l.count.add(DropQueue, 1)
			return
		}
		parts := int64(l.frame.lineBytes(p))*8*1e9 + l.rest
		sent = begin + parts/l.rate
		l.free, l.rest = sent, parts%l.rate
	}
	if &to[0] != &p[0] {
		copy(to, p)
	}
	s := l.slot(l.head)
	s.at, s.size, s.queued = l.at, len(p), begin > now
	s.came, s.begin, s.due = came, begin, sent+l.delay
	l.took(len(p))
	l.head++
}

// waiting is how many frames wait for the line.
//
//go:nosplit
func (l *line) waiting(now int64) uint64 {
	l.begun = max(l.begun, l.tail)
	for l.begun != l.head && l.slot(l.begun).begin <= now {
		l.begun++
	}
	return l.head - l.begun
}
