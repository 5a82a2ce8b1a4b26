//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// pacedExchange is an exchange of datagrams at a fixed rate, of which several
// can be outstanding: udp_rr and icmp_echo as an open loop.
type pacedExchange struct {
	*exchange
	pace     openLoop
	inflight inflight
	// crowded says that a slot of the window found that no number was free.
	crowded bool
	sending bool  // slots are still to come
	quietAt int64 // when the latest thing happened, after they were over
	overAt  int64 // when it is over at the latest
}

// run carries the trial out.
func (p *pacedExchange) run(cfg Config, x *exchange) (result.End, error) {
	if err := sys.PreciseTimers(); err != nil {
		return result.End{}, err
	}
	x.rtt = hist.New()
	p.exchange = x
	p.pace = newOpenLoop(cfg.Test, &x.meter, x.rtt, x.payload)
	p.inflight = newInflight(cfg.Test.Slots(), x.width)
	x.timeout = firstTimeout
	if err := p.loop(); err != nil {
		return result.End{}, err
	}
	if err := p.empty(); err != nil {
		return result.End{}, err
	}
	end := p.pace.result()
	end.Counts[CountLate] = x.late
	end.Counts[CountLost] = p.pace.sent - end.Messages - x.late
	end.Counts[CountStale] = x.stale
	end.Warnings = append(x.sock.warnings, p.pace.warnings()...)
	if p.pace.rtt.Count()+p.pace.warmup.Count() == 0 {
		end.Warnings = append(end.Warnings, noTraffic)
	}
	if x.late > 0 {
		end.Warnings = append(end.Warnings, x.lateAnswers(p.pace.sent))
	}
	if p.crowded {
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnOutstanding,
			Text:   fmt.Sprintf("%d requests were outstanding at once, and slots were missed: no more can be told apart by what a message of this size has room for", len(p.inflight.ring)),
			Advice: "take larger messages (size=8), or a lower rate",
		})
	}
	return end, nil
}

// loop is the measured part. What is due is sent first; then it waits for an
// answer until the next slot. When slots follow each other too fast for that it
// takes an answer after each request all the same.
func (p *pacedExchange) loop() error {
	sock := p.sock.Sock
	now := sys.Nanotime()
	p.pace.begin(now)
	for p.sending = true; ; now = sys.Nanotime() {
		if now >= p.pace.meter.limit && p.pace.turn(now) {
			p.opened()
		}
		due := p.pace.pacer.due(now)
		switch {
		case !p.pace.more(due, now):
			if due = never; p.over(now) {
				return nil
			}
		case due > now:
		case p.inflight.full():
			p.crowd(due)
			due = never
		default:
			if err := p.ask(due); err != nil {
				return err
			}
			now = sys.Nanotime()
			if due = p.pace.pacer.due(now); !p.pace.more(due, now) {
				due = never
			}
		}
		ready, errno := p.pace.await(sock, unix.POLLIN, now, due, p.until())
		n := 0
		if ready {
			n, errno = sock.Recv(p.answer, unix.MSG_DONTWAIT)
		}
		switch {
		case ready && errno == 0:
			if now = sys.Nanotime(); now >= p.pace.meter.limit && p.pace.turn(now) {
				p.opened()
			}
			p.take(n, now)
		case errno == 0 || errno == unix.EAGAIN:
			// Only now that nothing is left to be read: an answer may have come
			// in time, and this thread not.
			p.inflight.giveUp(now - int64(p.timeout))
		case !transient(errno):
			return p.sock.failed("receive from", errno)
		}
	}
}

// receivedAll is the answers, of whatever kind, of the whole trial.
func (p *pacedExchange) receivedAll() int64 {
	return p.pace.warmup.Count() + p.exchange.receivedAll() + p.pace.tail
}

// empty reads what is left in the socket when nothing is waited for any more.
func (p *pacedExchange) empty() error {
	for until := sys.Nanotime() + int64(awaitLateTime); sys.Nanotime() < until; {
		n, errno := p.sock.Recv(p.answer, unix.MSG_DONTWAIT)
		switch {
		case errno == 0:
			p.take(n, sys.Nanotime())
		case errno == unix.EAGAIN:
			return nil
		case !transient(errno):
			return p.sock.failed("receive from", errno)
		}
	}
	return nil
}

// ask sends the next request, which was due then.
//
//go:nosplit
func (p *pacedExchange) ask(due int64) error {
	p.number()
	for !p.inflight.free(p.seq) {
		p.unused++
		p.number()
	}
	now := sys.Nanotime()
	p.pace.use(due, now)
	kept := int32(-1)
	if due >= p.pace.from {
		kept = p.meter.each.ask()
	}
	p.inflight.add(p.seq, due, now, kept)
	if _, errno := p.sock.Send(p.request, unix.MSG_DONTWAIT); errno != 0 {
		return p.sendAgain(errno)
	}
	return nil
}

// take deals with what was received.
//
//go:nosplit
func (p *pacedExchange) take(n int, now int64) {
	if p.foreign(n) {
		return
	}
	to, due, low := toNone, int64(0), uint64(0)
	if n == p.answerSize {
		low = getSequence(p.exchange.answer[p.answerAt : p.answerAt+p.width])
		to, due = p.inflight.take(low)
	}
	if to == toWaiting {
		p.meter.each.set(p.inflight.place(low).kept, now-due)
		p.pace.answered(due, now)
	} else {
		p.odd(to, due, now)
	}
}

// odd deals with an answer that nothing waited for, or no longer.
//
//go:noinline
func (p *pacedExchange) odd(to answerTo, due, now int64) {
	p.quietAt = now
	switch {
	case to == toNone:
		p.others++
		p.stale++
	case due < p.pace.from:
		p.pace.warmup.Record(now - due)
	default:
		p.others++
		p.late++
		p.pace.samples.Record(now - due)
	}
}

// opened begins the window.
//
//go:noinline
func (p *pacedExchange) opened() {
	p.timeout = replyTimeout(time.Duration(p.pace.warmup.Max()))
	p.stale = 0
}

// crowd takes note of a slot for which no number was free.
//
//go:nosplit
func (p *pacedExchange) crowd(due int64) { p.crowded = p.crowded || due >= p.pace.from }

// until is when there is something else to do than to send and to receive.
//
//go:nosplit
func (p *pacedExchange) until() int64 {
	until := p.pace.meter.limit
	if sent, ok := p.inflight.eldest(); ok {
		until = min(until, sent+int64(p.timeout))
	}
	if !p.sending {
		until = min(until, p.quietAt+int64(p.timeout), p.overAt)
	}
	return until
}

// over says, when no slots are left, whether anything is still waited for: the
// answers that may be in time, and then, if some are missing, until nothing has
// come for the length of a timeout.
//
//go:noinline
func (p *pacedExchange) over(now int64) bool {
	if p.pace.meter.phase != closed {
		return false
	}
	if p.sending {
		p.sending = false
		p.quietAt, p.overAt = now, now+int64(p.timeout+awaitLateTime)
	}
	if p.inflight.waiting > 0 {
		p.quietAt = now
		return now >= p.overAt
	}
	missing := p.pace.sent - p.late - p.pace.tail - (p.pace.meter.messages - p.pace.meter.begin.messages)
	return missing <= 0 || now >= min(p.quietAt+int64(p.timeout), p.overAt)
}
