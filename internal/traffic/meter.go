package traffic

import (
	"fmt"
	"math"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
)

// phase is where an end stands between its first message and its last.
type phase int

const (
	idle   phase = iota // before the first message
	warm                // warm-up
	open                // the window
	closed              // after it
)

// meter is the warm-up and the window of one end, and what was counted in the
// window. It belongs to one thread. All times are nanoseconds of that thread's
// monotonic clock, handed in, so that it can be tested without one.
//
// The event that opens the window is the last one of the warm-up; the one that
// closes it is the last one of the window. So the events that are counted are
// those within (begin, end], and their number over the elapsed time is a rate
// without an end effect. A quota, if the test has one, closes the window with
// the event that reaches it.
//
// A receiver does not set the pace, and three things would spoil its rate:
//
//   - Silence at the window's end is part of the window only if the traffic
//     went on later. So silence does not close it: the next message does, at
//     the time at which it was due; and if none comes, finish takes the latest
//     message for the end.
//   - A thread that could not run when the warm-up was over finds what came
//     meanwhile in the socket, or lost there. A message that is late by more
//     than a tenth of the window opens it at the time at which it was due and
//     is itself counted: the dead time and its losses are in the rate.
//   - In the same way, a message that finds the window's end past by more than
//     a tenth of it puts the end off, once, until a tenth from now, so that
//     what the socket had kept is counted against the time that passed.
type meter struct {
	warmup, length int64
	receives       bool // a remote end: see above

	phase phase
	limit int64 // the time from which turn has something to do
	last  int64 // the latest event

	messages, bytes int64 // all so far
	begin, end      mark

	// silent says that nothing came around the window's end, which would be
	// full. putOff says that the end was put off.
	silent, putOff bool
	full           mark

	// parts divide the window; nil for no intervals. stop is when the window
	// is over, which limit then is not always; resume is when the end of the
	// latest interval had been dealt with.
	parts        *Intervals
	stop, resume int64

	// limited says that quota or valve may end the window before its time. The
	// quota is that of all threads of the end together, which share has then;
	// given is what of this one's window is in that.
	limited bool
	quota   quota
	share   *share
	given   quota
	valve   *valve

	usage *Usage // is told where the window begins and ends; nil for nobody
	each  each   // the window's first round trips
}

// mark is a moment with what had been counted until then.
type mark struct{ at, messages, bytes int64 }

func newMeter(warmup, window time.Duration) meter {
	return meter{warmup: int64(warmup), length: int64(window), limit: math.MinInt64}
}

// meterOf is the meter of an end with that configuration.
func meterOf(cfg Config) meter {
	m := newMeter(cfg.Warmup, cfg.Window)
	m.receives = cfg.Role == result.Remote
	m.parts = newIntervals(cfg.Interval, cfg.Window)
	m.restrict(cfg)
	m.each = newEach(cfg)
	if cfg.valve == nil {
		m.usage = cfg.Usage
	}
	return m
}

// time has the intervals tell of the round trips of the window, of which all
// are to go to rtt.
func (m *meter) time(rtt *hist.Hist) { m.parts.time(rtt) }

// samples is where a round trip of the window is recorded: rtt itself, or the
// present interval's part of it.
func (m *meter) samples(rtt *hist.Hist) *hist.Hist {
	if m.parts != nil {
		return m.parts.part
	}
	return rtt
}

// event counts messages with so many bytes, sent or received at now. It
// reports whether the phase has changed.
//
//go:nosplit
func (m *meter) event(messages, bytes int, now int64) bool {
	m.messages += int64(messages)
	m.bytes += int64(bytes)
	m.last = now
	return (now >= m.limit || m.limited && m.enough()) && m.turn(now, int64(messages), int64(bytes))
}

// tick is the passing of time without a message, noticed at now by an end that
// sets the pace itself: the phase changes now.
//
//go:nosplit
func (m *meter) tick(now int64) bool {
	return now >= m.limit && m.turn(now, 0, 0) || m.spent() && m.notice(now)
}

// stall is the passing of time without a message, noticed at now by an end
// that sets the pace but was kept waiting: the phase changed when its time was
// over. It does nothing before the first message.
func (m *meter) stall(now int64) bool {
	if m.spent() {
		return m.notice(now)
	}
	before := m.phase
	m.pass(now)
	switch {
	case m.phase == open && now >= m.stop:
		m.close(mark{m.stop, m.messages, m.bytes})
	case m.phase == open && m.valve.shut():
		m.close(mark{now, m.messages, m.bytes})
	case m.valve.shut():
		m.finish()
	}
	return m.phase != before
}

// silence is the same, noticed at now by an end that waits for the other. It
// does not close the window: whether that is full, the next message tells.
func (m *meter) silence(now int64) bool {
	if m.spent() {
		return m.notice(now)
	}
	before := m.phase
	m.pass(now)
	if m.phase == open && now >= m.stop && !m.silent {
		m.silent, m.full = true, mark{m.stop, m.messages, m.bytes}
	}
	if m.valve.shut() {
		m.finish()
	}
	return m.phase != before
}

// pass opens the window, and ends intervals, at the times at which that was
// due until now.
func (m *meter) pass(now int64) {
	if m.phase == warm && now >= m.limit {
		m.openAt(m.limit)
	}
	for m.phase == open && now >= m.limit && m.limit < m.stop {
		m.cut(m.limit)
	}
}

// turn goes to the phase that belongs to now. The event that has it do so is
// of so many messages and bytes, which are counted already.
func (m *meter) turn(now, messages, bytes int64) bool {
	before := m.phase
	if m.phase == idle {
		m.phase, m.limit = warm, now+m.warmup
		m.usage.warms(m.limit)
	}
	if m.phase == warm && m.share.full() {
		m.finish() // too late to count anything
		return true
	}
	if m.phase == warm && (now >= m.limit || m.valve.shut()) {
		if m.missed(now, m.limit) {
			m.open(mark{m.limit, m.messages - messages, m.bytes - bytes})
		} else {
			m.openAt(now)
		}
	}
	for m.phase == open && now >= m.limit {
		switch {
		case now < m.stop:
			m.cut(now)
		case m.silent:
			m.close(m.full)
		case m.missed(now, m.stop) && !m.putOff:
			m.putOff = true
			m.stop = now + m.length/10
			m.limit = m.stop
		default:
			m.close(mark{now, m.messages, m.bytes})
		}
	}
	if m.phase == open && m.limited && m.enough() {
		if m.share != nil {
			m.share.at.CompareAndSwap(0, max(now, 1))
		}
		m.close(mark{now, m.messages, m.bytes})
	}
	return m.phase != before
}

// missed says that a receiver was not there when something was due.
func (m *meter) missed(now, due int64) bool { return m.receives && now-due > m.length/10 }

// cut ends an interval of the window. The first message after its time is its
// last one, as with the window.
func (m *meter) cut(at int64) {
	next, resume := m.parts.cut(mark{at, m.messages, m.bytes})
	m.limit, m.resume = min(next, m.stop), resume
}

// openAt moves the beginning of the window to a moment; nothing must have been
// counted since it opened.
func (m *meter) openAt(at int64) { m.open(mark{at, m.messages, m.bytes}) }

func (m *meter) open(begin mark) {
	m.phase, m.begin, m.given = open, begin, quota{}
	m.each.begin()
	m.stop = begin.at + m.length
	m.limit = m.stop
	if m.parts != nil {
		m.parts.open(m.begin)
		m.limit = begin.at + m.parts.length
	}
	m.usage.begins()
}

func (m *meter) close(end mark) {
	m.phase, m.limit = closed, math.MaxInt64
	m.end = end
	m.share.window(m.begin, end)
	if m.parts != nil {
		m.parts.close(m.end)
	}
	m.usage.ends(end.at)
}

// finish says that no message will come any more. A window that is still open
// ends with its latest message. It reports whether the end came so early that
// a tenth of the window or more is missing; one that has a quota, or is ended
// from without, can't be too short.
func (m *meter) finish() (short bool) {
	switch m.phase {
	case warm:
		short = true
	case open:
		end := max(m.last, m.begin.at)
		short = m.begin.at+m.length-end >= m.length/10 && !m.limited
		m.close(mark{end, m.messages, m.bytes})
	}
	m.phase, m.limit = closed, math.MaxInt64
	return short
}

// result is what the window counted. Where threads share a quota the time is
// that of all their windows, as far as these are over.
func (m *meter) result(role string) result.End {
	return m.share.spanned(result.End{
		Role:     role,
		Elapsed:  time.Duration(m.end.at - m.begin.at),
		Messages: m.end.messages - m.begin.messages,
		Bytes:    m.end.bytes - m.begin.bytes,

		Intervals: m.parts.taken(),
		Each:      m.each.kept(),
	})
}

// receiverResult finishes a remote end.
func (m *meter) receiverResult(warnings []result.Warning) result.End {
	return m.finished(result.Remote, m.finish(), warnings)
}

// finished is the result of an end that the other end may have kept from
// filling its window; short is what finish said.
func (m *meter) finished(role string, short bool, warnings []result.Warning) result.End {
	end := m.result(role)
	end.Warnings = warnings
	switch {
	case m.messages == 0 && m.bytes == 0:
		end.Warnings = append(end.Warnings, noTraffic)
	case short:
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnShortWindow,
			Text:   fmt.Sprintf("the traffic ended after %v of a window of %v at the %s end", end.Elapsed, time.Duration(m.length), role),
			Advice: "its first messages came late or its last ones not at all: look at the link",
		})
	}
	return end
}

var noTraffic = result.Warning{
	Code:   WarnNoTraffic,
	Text:   "nothing at all came from the peer",
	Advice: "look whether the link carries anything, and for a firewall between the ends",
}
