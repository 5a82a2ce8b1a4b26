package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// loop is the measured part: it waits for events and deals with each, until the
// window is over and what was outstanding then is in.
func (w *tcpAsker) loop() {
	start := sys.Nanotime()
	w.end = start + w.meter.warmup + w.meter.length + int64(unfinishedTime)
	if w.meter.tick(start) {
		w.turned(start)
	}
	for w.err == nil && !w.quit.Load() && (w.meter.phase != closed || w.outstanding > 0) {
		wait := manyWait
		if w.begun < len(w.flows) && w.meter.phase != closed {
			w.begin()
			wait = 0
		}
		n, errno := w.set.Wait(w.events[:], wait)
		for i := range w.events[:n] {
			w.serve(&w.events[i])
		}
		if errno != 0 {
			w.unwaited(errno)
		}
		// Answers that come in by and by, and never whole, don't put it off.
		if now := sys.Nanotime(); (now >= w.end || w.meter.spent()) && w.ended(now) {
			return
		}
	}
}

// begin has some flows send their first requests.
//
//go:nosplit
func (w *tcpAsker) begin() {
	now := sys.Nanotime()
	for range manyStarts {
		if w.begun == len(w.flows) || w.err != nil {
			return
		}
		f := &w.flows[w.begun]
		f.owed = w.burst * w.sizes[0]
		w.send(f, w.begun, now)
		w.begun++
	}
}

// serve deals with an event of one flow.
//
//go:nosplit
func (w *tcpAsker) serve(event *unix.EpollEvent) {
	i := int(event.Fd)
	f := &w.flows[i]
	now := int64(0)
	if event.Events&readable != 0 {
		if now = w.receive(f, i, event.Events&hungUp != 0); now < 0 {
			return
		}
	}
	if f.owed > 0 {
		if now == 0 {
			now = sys.Nanotime()
		}
		w.send(f, i, now)
	}
}

// receive reads what has come in, and has a request follow each answer. It
// returns the time at which these begin: 0 where there is none, and below 0 if
// the trial is over for this thread.
//
//go:nosplit
func (w *tcpAsker) receive(f *tcpFlow, i int, all bool) (begin int64) {
	for turn := 0; ; turn++ {
		n, errno := f.sock.Recv(w.in, 0)
		if errno != 0 || n <= 0 {
			if errno == unix.EAGAIN {
				return begin
			}
			if errno == unix.EINTR {
				continue
			}
			w.failed("receive from", errno)
			return -1
		}
		answers, rest := divide(f.got+n, w.sizes[1])
		f.got = rest
		if answers > 0 {
			if answers > f.asked {
				w.unasked()
				return -1
			}
			now := sys.Nanotime()
			w.answered(f, i, answers, now)
			begin = max(now, w.meter.resume)
		}
		if n < len(w.in) && !all {
			return begin
		}
		if turn == manyTurns {
			w.again(f, i)
			return begin
		}
	}
}

// answered takes note of answers that came at now.
//
//go:nosplit
func (w *tcpAsker) answered(f *tcpFlow, i, answers int, now int64) {
	w.outstanding -= answers
	f.asked -= answers
	ring := w.times[i*w.burst : (i+1)*w.burst]
	before := w.meter.phase
	for range answers {
		if before != closed {
			w.samples.Record(now - ring[f.oldest])
		}
		if f.oldest++; f.oldest == len(ring) {
			f.oldest = 0
		}
	}
	if before == closed {
		return
	}
	if w.meter.event(answers, answers*(w.sizes[0]+w.sizes[1]), now) {
		w.turned(now)
	}
	if w.meter.phase != closed {
		f.owed += answers * w.sizes[0]
	}
}

// send sends what is owed, as far as there is room, each request by a call of
// its own, as programs do that know nothing of the next one. The first call is
// made at now. A request is begun when its first byte has found room.
//
//go:nosplit
func (w *tcpAsker) send(f *tcpFlow, i int, now int64) {
	for f.owed > 0 {
		n, errno := f.sock.Send(w.out[:min(untilNext(f.owed, w.sizes[0]), len(w.out))], unix.MSG_NOSIGNAL)
		if errno != 0 {
			if errno == unix.EAGAIN {
				return
			}
			if errno == unix.EINTR {
				continue
			}
			w.failed("send on", errno)
			return
		}
		f.owed -= n
		if n <= f.part {
			f.part -= n
		} else {
			w.asked(f, i, n-f.part, now)
		}
		if f.owed > 0 {
			now = sys.Nanotime()
		}
	}
}

// asked takes note of requests that were begun at now, with so many bytes.
//
//go:nosplit
func (w *tcpAsker) asked(f *tcpFlow, i, bytes int, now int64) {
	whole, rest := divide(bytes, w.sizes[0])
	if f.part = 0; rest > 0 {
		whole++
		f.part = w.sizes[0] - rest
	}
	ring := w.times[i*w.burst : (i+1)*w.burst]
	at := f.oldest + f.asked
	for range whole {
		if at >= len(ring) {
			at -= len(ring)
		}
		ring[at] = now
		at++
	}
	f.asked += whole
	w.outstanding += whole
}

// turned has a new phase begin. After the window no request is begun any more.
//
//go:noinline
func (w *tcpAsker) turned(now int64) {
	switch w.meter.phase {
	case open:
		w.samples = w.meter.samples(w.rtt)
	case closed:
		w.end = now + int64(unfinishedTime)
		for i := range w.flows {
			w.flows[i].owed = w.flows[i].part
		}
	}
}

// unwaited is a wait that failed.
//
//go:noinline
func (w *tcpAsker) unwaited(errno unix.Errno) {
	if errno != unix.EINTR {
		w.err = fmt.Errorf("wait for answers (epoll_wait): %w", errno)
	}
}

// ended ends the window, and says whether nothing is waited for any longer.
//
//go:noinline
func (w *tcpAsker) ended(now int64) (over bool) {
	// A window that began late may still be open.
	over = now >= w.end
	if w.meter.stall(now) {
		w.turned(now)
	}
	if over {
		w.meter.finish()
	}
	return over
}

// again has a flow that may have more to read wait until others have had their
// turn.
//
//go:noinline
func (w *tcpAsker) again(f *tcpFlow, i int) {
	if err := w.set.Change(int(f.sock), i, tcpEvents); err != nil {
		w.err = err
	}
}

//go:noinline
func (w *tcpAsker) failed(verb string, errno unix.Errno) {
	switch errno {
	case 0:
		w.err = errFlowEnded
	case unix.ECONNRESET, unix.EPIPE:
		w.err = fmt.Errorf("%w: %w", errFlowEnded, errno)
	default:
		w.err = fmt.Errorf("%s a TCP socket: %w", verb, errno)
	}
}

//go:noinline
func (w *tcpAsker) unasked() {
	w.err = fmt.Errorf("the peer answered more than it was asked: it is no remote end of this test")
}
