package traffic

import (
	"sync"
	"sync/atomic"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// quota is the messages and the bytes after which a window ends before its
// time; 0 for none.
type quota struct{ messages, bytes int64 }

// reached says that so much is a quota or more.
//
//go:nosplit
func (q quota) reached(messages, bytes int64) bool {
	return q.messages > 0 && messages >= q.messages || q.bytes > 0 && bytes >= q.bytes
}

// share is what the windows of several threads of an end count together where
// they have one quota. All are over when that is reached: each thread notices
// with its next message, which is counted, or when it looks at the clock. So
// the windows lie side by side, and what was counted belongs to the time from
// the first one's beginning to the last one's end. A nil share is that of an
// end with one thread or without a quota.
type share struct {
	threads         int64
	messages, bytes atomic.Int64
	at              atomic.Int64 // when the quota was reached; 0 before

	mu         sync.Mutex
	known      bool // there has been a window that counted something
	begin, end int64
}

// newShare is the share of an end's threads; nil if it needs none.
func newShare(t spec.Test) *share {
	messages, bytes := t.Limit()
	if t.Threads() == 1 || messages == 0 && bytes == 0 {
		return nil
	}
	return &share{threads: int64(t.Threads())}
}

// full says that the quota was reached.
//
//go:nosplit
func (s *share) full() bool { return s != nil && s.at.Load() != 0 }

// window takes note of a thread's window that is over.
func (s *share) window(begin, end mark) {
	if s == nil || end.messages == begin.messages && end.bytes == begin.bytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.known, s.begin, s.end = true, begin.at, end.at
	}
	s.begin, s.end = min(s.begin, begin.at), max(s.end, end.at)
}

// spanned is what an end counted, over the time of all its windows if they
// share a quota.
func (s *share) spanned(e result.End) result.End {
	if s == nil {
		return e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		e.Elapsed = time.Duration(s.end - s.begin)
	}
	return e
}

// valve ends the windows of an engine from without, for a stream that flows
// beside a test, and tells when the first message came through. Any thread may
// use it. A nil valve never shuts.
type valve struct{ closed, flow atomic.Bool }

//go:nosplit
func (v *valve) shut() bool { return v != nil && v.closed.Load() }

// pass takes note of the first message.
//
//go:nosplit
func (v *valve) pass() {
	if v != nil && !v.flow.Load() {
		v.flow.Store(true)
	}
}

// restrict has what the configuration says end the window before its time.
func (m *meter) restrict(cfg Config) {
	m.quota.messages, m.quota.bytes = cfg.Test.Limit()
	m.share = cfg.share
	m.valve = cfg.valve
	m.limited = m.quota != quota{} || m.valve != nil
}

// spent says that the threads' quota was reached and that this one has not
// noticed: stall has to follow.
//
//go:nosplit
func (m *meter) spent() bool { return m.share.full() && m.phase != closed }

// enough says, after each message of a limited window, that it is the last.
//
//go:nosplit
func (m *meter) enough() bool {
	m.valve.pass()
	if m.valve.shut() {
		return true
	}
	return m.phase == open && m.quota.reached(m.counted())
}

// counted is what the window has counted, together with the other threads' if
// they share a quota.
//
//go:nosplit
func (m *meter) counted() (messages, bytes int64) {
	messages, bytes = m.messages-m.begin.messages, m.bytes-m.begin.bytes
	if m.share == nil {
		return messages, bytes
	}
	before := m.given
	m.given.messages, m.given.bytes = messages, bytes
	return m.share.messages.Add(messages - before.messages), m.share.bytes.Add(bytes - before.bytes)
}

// left is what the window is still to count, of what the quota is of; it may be
// below 0. Threads that share one are to take an even part of it each, lest
// they overshoot it together.
//
//go:nosplit
func (m *meter) left() (messages, bytes int64) {
	messages, bytes = m.counted()
	messages, bytes = m.quota.messages-messages, m.quota.bytes-bytes
	if m.share != nil {
		messages = (messages + m.share.threads - 1) / m.share.threads
		bytes = (bytes + m.share.threads - 1) / m.share.threads
	}
	return messages, bytes
}

// notice ends the window of a thread that waits for messages, at now, where the
// others have reached the quota. It ended when they did. It reports that the
// phase has changed.
//
//go:noinline
func (m *meter) notice(now int64) bool {
	if m.phase == open {
		at := max(m.share.at.Load(), m.begin.at)
		if m.messages > m.begin.messages {
			at = max(at, m.last)
		}
		m.usage = nil // who reached the quota has told of it
		m.close(mark{min(at, now), m.messages, m.bytes})
		return true
	}
	m.finish() // it has counted nothing
	return true
}
