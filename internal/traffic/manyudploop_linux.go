package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// loop is the measured part: it waits for events and deals with each, and now
// and then looks for requests whose answer is overdue.
func (w *udpAsker) loop() {
	start := sys.Nanotime()
	w.sweep = start + int64(w.timeout)/4
	if w.meter.tick(start) {
		w.turned()
	}
	for w.err == nil && !w.quit.Load() && w.meter.phase != closed {
		wait := manyWait
		switch {
		case w.begun < len(w.flows):
			w.begin()
			wait = 0
		case w.timeout < firstTimeout:
			wait = w.pause()
		}
		n, errno := w.set.Wait(w.events[:], wait)
		for i := range w.events[:n] {
			w.serve(&w.events[i])
		}
		// However many answers come in, what is lost is looked for in its time.
		if now := sys.Nanotime(); now >= w.sweep || w.meter.spent() {
			w.giveUp(now)
		}
		if errno != 0 {
			w.failed(errno)
		}
	}
}

// pause is how many milliseconds a wait may last.
//
//go:nosplit
func (w *udpAsker) pause() int { return min(int(w.timeout/4_000_000)+1, manyWait) }

// begin has some flows send their first requests.
//
//go:nosplit
func (w *udpAsker) begin() {
	for range manyStarts {
		if w.begun == len(w.flows) || w.err != nil {
			return
		}
		for slot := range w.burst {
			w.ask(w.begun, slot, sys.Nanotime())
		}
		w.begun++
	}
}

// serve deals with an event of one flow: it reads answers until there are none,
// or all outstanding ones are in, and has a request follow each.
//
//go:nosplit
func (w *udpAsker) serve(event *unix.EpollEvent) {
	flow := int(event.Fd)
	sock := w.flows[flow]
	for asked := 0; asked < w.burst; {
		n, errno := sock.Recv(w.answer, unix.MSG_DONTWAIT)
		if errno != 0 {
			if errno == unix.EAGAIN {
				break
			}
			w.refused(errno)
			if w.err != nil {
				return
			}
			continue
		}
		slot, right := w.answered(flow, n)
		now := sys.Nanotime()
		if !right {
			w.unexpected(flow, slot, n, now)
			continue
		}
		s := &w.slots[flow*w.burst+slot]
		if w.meter.phase == closed { // between the window and the end
			w.cameAfter(s, now)
			continue
		}
		w.samples.Record(now - s.sent)
		if w.meter.event(1, w.payload, now) {
			w.turned()
		}
		if s.sent = 0; w.meter.phase != closed {
			w.ask(flow, slot, max(now, w.meter.resume))
			asked++
		}
	}
	if w.unsent > 0 && event.Events&unix.EPOLLOUT != 0 {
		w.askAgain(flow)
	}
}

// answered is the slot that the n bytes of the buffer are an answer to, and
// whether it is the answer to the slot's present request.
//
//go:nosplit
func (w *udpAsker) answered(flow, n int) (slot int, right bool) {
	if n != len(w.answer)-1 {
		return -1, false
	}
	number := getNumber(w.answer, w.width)
	slot = int(number & (1<<w.shift - 1))
	if slot >= w.burst {
		return -1, false
	}
	s := &w.slots[flow*w.burst+slot]
	return slot, s.sent != 0 && number>>w.shift == s.round&w.rounds
}

// ask sends a slot's next request at now.
//
//go:nosplit
func (w *udpAsker) ask(flow, slot int, now int64) {
	s := &w.slots[flow*w.burst+slot]
	s.round++
	s.sent = now
	putNumber(w.request, w.width, s.round<<w.shift|uint64(slot))
	if _, errno := w.flows[flow].Send(w.request, unix.MSG_DONTWAIT); errno != 0 {
		w.unsentNow(flow, s, errno)
	}
}

// getNumber reads what putNumber wrote.
//
//go:nosplit
func getNumber(b []byte, width int) (n uint64) {
	for _, c := range b[:width] {
		n = n<<8 | uint64(c)
	}
	return n
}

// putNumber writes the low bits of n into the first width bytes, 1 to 8.
//
//go:nosplit
func putNumber(b []byte, width int, n uint64) {
	for i := width - 1; i >= 0; i-- {
		b[i] = byte(n)
		n >>= 8
	}
}

// unsentNow deals with a send that failed. An error that an earlier request
// drew (ECONNREFUSED) is reported in place of sending, so it is tried once
// more; if that fails too, the request will be given up in its time. One that
// finds no room waits for it.
//
//go:noinline
func (w *udpAsker) unsentNow(flow int, s *udpSlot, errno unix.Errno) {
	if transient(errno) && errno != unix.EAGAIN {
		_, errno = w.flows[flow].Send(w.request, unix.MSG_DONTWAIT)
	}
	switch {
	case errno == unix.EAGAIN:
		s.sent = 0
		s.round--
		w.unsent++
		if err := w.set.Change(int(w.flows[flow]), flow, udpBlockedEvents); err != nil {
			w.err = err
		}
	case errno != 0 && !transient(errno):
		w.err = fmt.Errorf("send on a UDP socket: %w", errno)
	case errno != 0:
		w.untaken++
	}
}

// askAgain has a flow with room send the requests that found none.
//
//go:noinline
func (w *udpAsker) askAgain(flow int) {
	if err := w.set.Change(int(w.flows[flow]), flow, udpEvents); err != nil {
		w.err = err
	}
	before := w.unsent
	for slot := range w.burst {
		if s := &w.slots[flow*w.burst+slot]; s.sent == 0 && w.meter.phase != closed {
			w.unsent--
			w.ask(flow, slot, sys.Nanotime())
			if w.unsent == before { // no room again
				return
			}
			before = w.unsent
		}
	}
}

// turned has a new phase begin.
//
//go:noinline
func (w *udpAsker) turned() {
	if w.meter.phase == open {
		w.open()
	}
}

// failed is a wait that failed.
//
//go:noinline
func (w *udpAsker) failed(errno unix.Errno) {
	if errno != unix.EINTR {
		w.err = fmt.Errorf("wait for answers (epoll_wait): %w", errno)
	}
}

// refused is a receive call that failed.
//
//go:noinline
func (w *udpAsker) refused(errno unix.Errno) {
	if !transient(errno) {
		w.err = fmt.Errorf("receive from a UDP socket: %w", errno)
	}
}
