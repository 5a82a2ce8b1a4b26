package traffic

import "sync/atomic"

// quota is the messages and the bytes after which a window ends before its
// time; 0 for none.
type quota struct{ messages, bytes int64 }

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

// restrict has what the configuration says end the window before its time. A
// quota is shared out to the threads, of which each has a window of its own.
func (m *meter) restrict(cfg Config) {
	m.quota.messages, m.quota.bytes = cfg.Test.Limit()
	n := int64(cfg.Test.Threads())
	m.quota = quota{portion(m.quota.messages, n), portion(m.quota.bytes, n)}
	m.valve = cfg.valve
	m.limited = m.quota != quota{} || m.valve != nil
}

// portion is an nth of all, rounded up.
func portion(all, n int64) int64 {
	if all == 0 {
		return 0
	}
	return (all-1)/n + 1
}

// enough says, after each message of a limited window, that it is the last.
//
//go:nosplit
func (m *meter) enough() bool {
	m.valve.pass()
	if m.valve.shut() {
		return true
	}
	return m.phase == open &&
		(m.quota.messages > 0 && m.messages-m.begin.messages >= m.quota.messages ||
			m.quota.bytes > 0 && m.bytes-m.begin.bytes >= m.quota.bytes)
}
