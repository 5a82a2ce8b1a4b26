//go:build linux || darwin || freebsd

package traffic

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"netdelta/internal/counters/trace"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// watcher watches some of a window's round trips on their way, one in so many, the same
// ones at both ends: those whose number every divides. Where there is nothing to watch
// it costs a round trip one branch that always goes the same way.
//
// How many come in the window is reckoned when it opens, from the warm-up. Should the
// room fill up all the same, every second of those that are kept goes, and from then on
// half as many are watched.
type watcher struct {
	count int64 // round trips so far
	next  int64 // the number of the next that is watched; never for none
	every int64
	on    bool // round trips are to be watched
	due   bool // at a remote end: the next is

	began, window int64
	now           sighting
	room          []sighting // never grows
	gate          []byte     // nil where no programs watch

	tracer  *trace.Tracer
	stamper *sys.Stamper
	by      string
	offset  int64 // of the real clock, see sys.RealOffset
	cfg     *Config
	missing []result.Fact
	lost    int64
}

// sighting is one round trip. Times are the monotonic clock's, but for stamps'.
type sighting struct {
	n      int64
	opened int64 // the gate, before all else
	call   int64 // before the call that sends
	back   int64 // after the one that receives
	closed int64
	sent   sys.StampTimes
	got    sys.StampTimes
	told   bool          // marks are here
	marks  []result.Mark // of what programs have seen; see watcher.tell
}

// begin opens the window.
//
//go:noinline
func (w *watcher) begin(now int64) {
	if !w.on {
		return
	}
	w.room = w.room[:0]
	w.every = 1
	if took := now - w.began; took > 0 && w.began != 0 {
		coming := float64(w.count) / float64(took) * float64(w.window)
		for coming/float64(w.every) > 2*result.MaxSeen { // thin makes room if all come
			w.every *= 2
		}
	}
	w.plan()
}

// start is the first message.
func (w *watcher) start(now int64) {
	w.began, w.next = now, never
}

// end closes the window: nothing is watched any more.
func (w *watcher) end() { w.next, w.due = never, false }

// turn follows the meter's phase.
//
//go:noinline
func (w *watcher) turn(p phase, now int64) {
	switch p {
	case open:
		w.begin(now)
	case closed:
		w.end()
	}
}

func (w *watcher) plan() { w.next = (w.count/w.every + 1) * w.every }

// step counts a round trip that begins, and says whether it is watched.
//
//go:nosplit
func (w *watcher) step() bool {
	w.count++
	return w.count == w.next
}

// open begins to watch and tells the time at which the round trip begins.
//
//go:nosplit
func (w *watcher) open() int64 {
	w.fresh(w.count)
	w.now.call = sys.Nanotime()
	return w.now.call
}

// fresh begins with the round trip of a number. (Field by field: one that may hold
// pointers can't be cleared as a whole here.)
//
//go:nosplit
func (w *watcher) fresh(n int64) {
	w.now.n = n
	w.now.call, w.now.back, w.now.closed = 0, 0, 0
	w.now.sent, w.now.got = sys.StampTimes{}, sys.StampTimes{}
	w.now.opened = sys.Nanotime()
	w.shut(w.now.opened)
}

// shut writes the gate: 0, or since when it is open.
//
//go:nosplit
func (w *watcher) shut(since int64) {
	if len(w.gate) >= 8 {
		binary.NativeEndian.PutUint64(w.gate, uint64(since))
	}
}

// send and recv are those calls of a round trip that is watched.
//
//go:nosplit
func (w *watcher) send(s sys.Sock, p []byte, flags int) (int, unix.Errno) {
	if w.stamper != nil {
		return w.stamper.Send(p, flags)
	}
	return s.Send(p, flags)
}

//go:nosplit
func (w *watcher) recv(s sys.Sock, p []byte) (int, unix.Errno) {
	if w.stamper != nil {
		return w.stamper.Recv(p, 0, &w.now.got)
	}
	return s.Recv(p, 0)
}

// done ends a round trip at the end that asks; at is when, and ok that its answer came.
// It tells when the next can begin.
//
//go:noinline
func (w *watcher) done(at int64, ok bool) int64 {
	w.now.back = at
	w.keep(ok)
	w.plan()
	return sys.Nanotime()
}

// keep closes the gate and keeps what was watched.
func (w *watcher) keep(ok bool) {
	w.shut(0)
	w.now.closed = sys.Nanotime()
	if w.stamper != nil {
		w.stamper.Collect(&w.now.sent)
	}
	if !ok {
		return
	}
	if len(w.room) == cap(w.room) {
		w.thin()
	}
	if n := len(w.room); w.now.n%w.every == 0 && n < cap(w.room) {
		w.room = w.room[:n+1]
		w.room[n] = w.now
	}
	// A message of a thousand packets has thousands of events.
	if w.tracer != nil && w.tracer.Filling() {
		w.tell()
	}
}

// thin makes room.
func (w *watcher) thin() {
	w.every *= 2
	kept := w.room[:0]
	for _, t := range w.room {
		if t.n%w.every == 0 {
			kept = append(kept, t)
		}
	}
	w.room = kept
}

// returned is when a request that is watched has come, and calls when the answer is
// about to go.
//
//go:nosplit
func (w *watcher) returned() { w.now.back = sys.Nanotime() }

//go:nosplit
func (w *watcher) calls() { w.now.call = sys.Nanotime() }

// answered counts a request that was answered, by the low bytes of its number, at the
// end that answers; 0 width for one whose number nobody tells. It has the next one
// watched if its turn has come.
//
//go:nosplit
func (w *watcher) answered(low uint64, width int) {
	if w.on {
		w.answeredOne(low, width)
	}
}

//go:noinline
func (w *watcher) answeredOne(low uint64, width int) {
	n := w.count + 1
	if width > 0 && width < maxSequence {
		// The number nearest to the one that should be.
		span := int64(1) << (8 * width)
		n += int64(low) - n&(span-1)
		if n < w.count+1-span/2 {
			n += span
		} else if n > w.count+1+span/2 {
			n -= span
		}
	} else if width > 0 {
		n = int64(low)
	}
	if w.due {
		w.due = false
		w.keep(n == w.now.n)
	}
	w.count = n
	if w.next != never && w.count >= w.next {
		w.plan()
	}
	if w.count+1 == w.next {
		w.due = true
		w.fresh(w.next)
	}
}
