package traffic

import (
	"fmt"
	"math"
	"time"

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
// without an end effect.
type meter struct {
	warmup, length int64

	phase phase
	limit int64 // the time from which turn has something to do
	last  int64 // the latest event

	messages, bytes int64 // all so far
	begin, end      mark
}

// mark is a moment with what had been counted until then.
type mark struct{ at, messages, bytes int64 }

func newMeter(warmup, window time.Duration) meter {
	return meter{warmup: int64(warmup), length: int64(window), limit: math.MinInt64}
}

// event counts messages with so many bytes, sent or received at now. It
// reports whether the phase has changed.
func (m *meter) event(messages, bytes int, now int64) bool {
	m.messages += int64(messages)
	m.bytes += int64(bytes)
	m.last = now
	return now >= m.limit && m.turn(now, now)
}

// tick is the passing of time without a message, noticed at now by an end that
// sets the pace itself: the phase changes now.
func (m *meter) tick(now int64) bool { return now >= m.limit && m.turn(now, now) }

// silence is the passing of time without a message, noticed at now by an end
// that waits for the other: the phase changed when its time was over. It does
// nothing before the first message.
func (m *meter) silence(now int64) bool {
	return m.phase != idle && now >= m.limit && m.turn(now, m.limit)
}

// turn goes to the phase that belongs to now; at is when the present phase is
// taken to have ended.
func (m *meter) turn(now, at int64) bool {
	before := m.phase
	if m.phase == idle {
		m.phase, m.limit = warm, now+m.warmup
		at = max(at, m.limit)
	}
	if m.phase == warm && now >= m.limit {
		m.phase = open
		m.openAt(at)
		at = max(at, m.limit)
	}
	if m.phase == open && now >= m.limit {
		m.close(at)
	}
	return m.phase != before
}

// openAt moves the beginning of the window to a moment; nothing must have been
// counted since it opened.
func (m *meter) openAt(at int64) {
	m.begin = mark{at, m.messages, m.bytes}
	m.limit = at + m.length
}

func (m *meter) close(at int64) {
	m.phase, m.limit = closed, math.MaxInt64
	m.end = mark{at, m.messages, m.bytes}
}

// finish says that no message will come any more. A window that is still open
// ends with its latest message. It reports whether the end came so early that
// a tenth of the window or more is missing.
func (m *meter) finish() (short bool) {
	switch m.phase {
	case warm:
		short = true
	case open:
		short = m.limit-m.last >= m.length/10
		m.close(max(m.last, m.begin.at))
	}
	m.phase, m.limit = closed, math.MaxInt64
	return short
}

// result is what the window counted.
func (m *meter) result(role string) result.End {
	return result.End{
		Role:     role,
		Elapsed:  time.Duration(m.end.at - m.begin.at),
		Messages: m.end.messages - m.begin.messages,
		Bytes:    m.end.bytes - m.begin.bytes,
	}
}

// receiverResult finishes a remote end.
func (m *meter) receiverResult(warnings []result.Warning) result.End {
	short := m.finish()
	end := m.result(result.Remote)
	end.Warnings = warnings
	switch {
	case m.messages == 0:
		end.Warnings = append(end.Warnings, noTraffic)
	case short:
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnShortWindow,
			Text:   fmt.Sprintf("the traffic ended after %v of a window of %v at the remote end", end.Elapsed, time.Duration(m.length)),
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
