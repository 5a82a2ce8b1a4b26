package traffic

import (
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// manySwept is how many slots are searched in a row for overdue requests: so
// much as not to show in a round trip.
const manySwept = 512

// giveUp takes requests for lost, for now, whose answer is overdue, and has
// their slots ask again. All slots have their turn in a quarter of the timeout.
// It notices that time has passed, too: a thread on which nothing comes in may
// have its requests wait for room. Those that are overdue when the window is
// over belong to none.
//
//go:noinline
func (w *udpAsker) giveUp(now int64) {
	if w.meter.tick(now) {
		w.turned()
	}
	if w.meter.phase == closed {
		return
	}
	n := min(manySwept, len(w.slots))
	for range n {
		i := w.swept
		if w.swept++; w.swept == len(w.slots) {
			w.swept = 0
		}
		s := &w.slots[i]
		if s.sent == 0 || now-s.sent < int64(w.timeout) {
			continue
		}
		w.remember(i, s)
		w.overdue++
		w.ask(i/w.burst, i%w.burst, sys.Nanotime())
	}
	w.sweep = now + int64(w.timeout)/4*int64(n)/int64(len(w.slots))
}

// remember takes note of a slot's present request, and forgets the oldest one
// that is remembered.
func (w *udpAsker) remember(i int, s *udpSlot) {
	all := w.lost[i*lostBySlot : (i+1)*lostBySlot]
	l := &all[s.round%lostBySlot]
	if l.round != 0 && l.inWindow {
		w.waiting--
	}
	*l = lostRequest{s.round, s.sent, w.meter.phase == open}
	if l.inWindow {
		w.waiting++
	}
}

// unexpected counts an answer that is not to a slot's present request; slot is
// -1 if it is none to any.
//
//go:noinline
func (w *udpAsker) unexpected(flow, slot, n int, now int64) {
	w.others++
	if slot >= 0 {
		round := getNumber(w.answer, w.width) >> w.shift
		i := flow*w.burst + slot
		for j := range lostBySlot {
			l := &w.lost[i*lostBySlot+j]
			if l.round != 0 && l.round&w.rounds == round && w.slots[i].round-l.round <= w.rounds {
				w.cameLate(l, now)
				return
			}
		}
	}
	w.stale++
}

// cameLate is the answer to a request that was given up.
func (w *udpAsker) cameLate(l *lostRequest, now int64) {
	rtt := now - l.sent
	w.longest = max(w.longest, time.Duration(rtt))
	switch {
	case !l.inWindow && w.meter.phase != warm:
		w.stale++ // of the warm-up
	case l.inWindow:
		w.late++
		w.waiting--
		w.lastHeard = now
		// Its round trip is a true one, if a long one.
		if w.meter.phase == open {
			w.meter.samples(w.rtt).Record(rtt)
		} else {
			w.rtt.Record(rtt)
		}
	}
	*l = lostRequest{}
}

// open starts the window's own counts. What was given up before is forgotten,
// what is outstanding counts when it is answered.
func (w *udpAsker) open() {
	w.timeout = replyTimeout(max(w.longest, time.Duration(w.samples.Max())))
	w.samples = w.meter.samples(w.rtt)
	w.overdue, w.late, w.stale = 0, 0, 0
	w.sweep = min(w.sweep, sys.Nanotime()+int64(w.timeout)/4)
}

// awaitLate receives answers until none is under way, and none has been late
// for the length of a timeout, so that late answers are not taken for lost.
func (w *udpAsker) awaitLate() {
	w.underWay = 0
	for i := range w.slots {
		if w.slots[i].sent != 0 {
			w.underWay++
		}
	}
	w.lastHeard = sys.Nanotime()
	until := w.lastHeard + int64(awaitLateTime)
	for (w.waiting > 0 || w.underWay > 0) && w.err == nil && !w.quit.Load() {
		n, errno := w.set.Wait(w.events[:], w.pause())
		for i := range w.events[:n] {
			w.serve(&w.events[i])
		}
		if errno != 0 {
			w.failed(errno)
		}
		if now := sys.Nanotime(); now >= until || n == 0 && now-w.lastHeard >= int64(w.timeout) {
			return
		}
	}
}

// cameAfter is the answer to a slot's request that came after the window.
//
//go:noinline
func (w *udpAsker) cameAfter(s *udpSlot, now int64) {
	s.sent = 0
	w.others++
	w.underWay--
	w.lastHeard = now
}

// empty reads what is left in the sockets: answers that nothing waits for.
func (w *udpAsker) empty() {
	for flow := range w.flows {
		w.serve(&unix.EpollEvent{Fd: int32(flow)})
		if w.err != nil {
			return
		}
	}
}

// sentAll is the requests of the whole trial that the kernel took: a slot's
// round was 1 before it asked.
func (w *udpAsker) sentAll() (n int64) {
	for i := range w.slots {
		n += int64(w.slots[i].round - 1)
	}
	return n - w.untaken
}

// receivedAll is the answers, of whatever kind, of the whole trial.
func (w *udpAsker) receivedAll() int64 { return w.meter.messages + w.others }
