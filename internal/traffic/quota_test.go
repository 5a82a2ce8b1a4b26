package traffic

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func limitedMeter(role string, test string, p spec.Params) meter {
	return meterOf(Config{Role: role, Test: spec.Test{Name: test, Params: p}, Warmup: 10, Window: 100})
}

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		name     string
		test     string
		params   spec.Params
		size     int // bytes of each event, of one message
		times    []int64
		messages int64
		elapsed  time.Duration
		phase    phase // after the last event
	}{
		{"none", "udp_rr", spec.Params{}, 2, []int64{1000, 1010, 1020, 1030, 1109}, 3, 99, open},
		{"reached", "udp_rr", spec.Params{Count: 2}, 2, []int64{1000, 1010, 1020, 1030, 1040}, 2, 20, closed},
		{"of one", "udp_rr", spec.Params{Count: 1}, 2, []int64{1000, 1010, 1020, 1030}, 1, 10, closed},
		{"at the same moment", "udp_rr", spec.Params{Count: 2}, 2, []int64{1000, 1010, 1010, 1010, 1010}, 2, 0, closed},
		{"not reached", "udp_rr", spec.Params{Count: 4}, 2, []int64{1000, 1010, 1020, 1030, 1110, 1111}, 3, 100, closed},
		{"bytes of round trips are of one direction", "udp_rr", spec.Params{Bytes: 30, Size: 10}, 20, []int64{1000, 1010, 1020, 1030, 1040, 1050}, 3, 30, closed},
		{"bytes of a stream", "tcp_stream", spec.Params{Bytes: 30}, 10, []int64{1000, 1010, 1020, 1030, 1040, 1050}, 3, 30, closed},
		{"messages of a stream of bytes", "tcp_stream", spec.Params{Count: 3, Size: 15}, 10, []int64{1000, 1010, 1020, 1030, 1040, 1050, 1060}, 5, 50, closed},
	} {
		for _, role := range []string{result.Local, result.Remote} {
			m := limitedMeter(role, c.test, c.params)
			for _, at := range c.times {
				m.event(1, c.size, at)
			}
			if m.phase != c.phase {
				t.Errorf("%s, %s: phase %d, want %d", c.name, role, m.phase, c.phase)
			}
			limited := c.params != spec.Params{}
			short := m.finish()
			if end := m.result(role); end.Messages != c.messages || end.Elapsed != c.elapsed || short && limited {
				t.Errorf("%s, %s: %d messages in %d, short %v; want %d in %d", c.name, role, end.Messages, end.Elapsed, short, c.messages, c.elapsed)
			}
		}
	}
}

// A receiver with a quota whose traffic ends early has what came, and its
// window is as long as that took; without any it is short all the same.
func TestQuotaOfAReceiverThatIsShort(t *testing.T) {
	m := limitedMeter(result.Remote, "udp_stream", spec.Params{Count: 100, Size: 1})
	for _, at := range []int64{1000, 1010, 1015, 1020} {
		m.event(1, 1, at)
	}
	m.silence(1095)
	if end := m.receiverResult(nil); end.Messages != 2 || end.Elapsed != 10 || len(end.Warnings) > 0 {
		t.Errorf("%d messages in %d, %v", end.Messages, end.Elapsed, end.Warnings)
	}
	m = limitedMeter(result.Remote, "udp_stream", spec.Params{Count: 100, Size: 1})
	m.event(1, 1, 1000)
	if end := m.receiverResult(nil); end.Elapsed != 0 || !warned(end, WarnShortWindow) {
		t.Errorf("%d messages in %d, %v", end.Messages, end.Elapsed, end.Warnings)
	}
}

// A quota divides a window into intervals like any other.
func TestQuotaWithIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 30).Draw(t, "count")
		m := meterOf(Config{Role: rapid.SampledFrom([]string{result.Local, result.Remote}).Draw(t, "role"),
			Test:   spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1, Count: count}},
			Warmup: 10, Window: 100, Interval: time.Duration(rapid.Int64Range(20, 99).Draw(t, "interval"))})
		at := int64(1000)
		for m.event(1, 2, at); m.phase != closed && at < 5000; m.event(1, 2, at) {
			at += rapid.Int64Range(0, 9).Draw(t, "gap")
		}
		end := m.result(result.Local)
		if end.Messages > int64(count) || end.Messages < int64(count) && end.Elapsed < 100 {
			t.Fatalf("%d messages in %d, the quota is %d", end.Messages, end.Elapsed, count)
		}
		var sum int64
		for _, i := range end.Intervals {
			sum += i.Messages
		}
		if sum != end.Messages && end.Elapsed > 0 {
			t.Fatalf("the intervals have %d of %d messages", sum, end.Messages)
		}
	})
}

// A valve ends a window wherever it stands, and tells of the first message.
func TestValve(t *testing.T) {
	for _, c := range []struct {
		name     string
		before   []int64 // events
		shut     func(m *meter)
		messages int64
		elapsed  time.Duration
	}{
		{"before the first message", nil, func(m *meter) { m.silence(1005) }, 0, 0},
		{"in the warm-up", []int64{1000, 1005}, func(m *meter) { m.event(1, 1, 1007) }, 0, 0},
		{"in the warm-up, stalled", []int64{1000, 1005}, func(m *meter) { m.stall(1007) }, 0, 0},
		{"in the window", []int64{1000, 1010, 1020}, func(m *meter) { m.event(1, 1, 1030) }, 2, 20},
		{"in the window, stalled", []int64{1000, 1010, 1020}, func(m *meter) { m.stall(1030) }, 1, 20},
		{"in the window, silent", []int64{1000, 1010, 1020}, func(m *meter) { m.silence(1030) }, 1, 10},
	} {
		v := &valve{}
		m := meterOf(Config{Role: result.Local, Test: spec.Test{Name: "tcp_stream"}, Warmup: 10, Window: 100, valve: v})
		for _, at := range c.before {
			m.event(1, 1, at)
		}
		if v.flow.Load() != (len(c.before) > 1) {
			t.Errorf("%s: it tells %v of a flow", c.name, v.flow.Load())
		}
		v.closed.Store(true)
		c.shut(&m)
		if m.phase != closed {
			t.Errorf("%s: phase %d", c.name, m.phase)
		}
		short := m.finish()
		if end := m.result(result.Local); end.Messages != c.messages || end.Elapsed != c.elapsed || short {
			t.Errorf("%s: %d messages in %d, short %v; want %d in %d", c.name, end.Messages, end.Elapsed, short, c.messages, c.elapsed)
		}
	}
}

// sharing are the meters of an end's threads, which have one quota.
func sharing(test spec.Test, usage *Usage) (a, b meter) {
	cfg := Config{Role: result.Local, Test: test, Warmup: 10, Window: 100, Usage: usage, share: newShare(test)}
	return meterOf(cfg), meterOf(cfg)
}

// Two threads' windows are over when they have reached the quota together, and
// their rate is over the time from the first beginning to the last end.
func TestSharedQuota(t *testing.T) {
	test := spec.Test{Name: "udp_rr", Params: spec.Params{Count: 5, Size: 1, Flows: 2, Threads: 2}}
	for _, c := range []struct {
		name     string
		late     func(b *meter) // what the other thread meets after the quota's end at 1040
		messages int64
		elapsed  time.Duration
	}{
		{"a message under way", func(b *meter) { b.event(1, 2, 1045) }, 6, 35},
		{"nothing, and looks at the clock", func(b *meter) { b.tick(1060) }, 5, 30},
		{"nothing, and was kept waiting", func(b *meter) { b.stall(1060) }, 5, 30},
		{"nothing, and waits for its peer", func(b *meter) { b.silence(1060) }, 5, 30},
	} {
		u := &Usage{}
		a, b := sharing(test, u)
		a.event(1, 2, 1000)
		b.event(1, 2, 1010)
		a.event(1, 2, 1010) // opens its window
		b.event(1, 2, 1020)
		for _, at := range []int64{1021, 1022, 1023} {
			a.event(1, 2, at)
		}
		b.event(1, 2, 1030)
		if a.phase != open || b.phase != open {
			t.Fatalf("%s: the quota is reached too early", c.name)
		}
		if a.event(1, 2, 1040); a.phase != closed {
			t.Errorf("%s: the quota does not end the window", c.name)
		}
		used := u.end
		burn(t, 5*time.Millisecond)
		if c.late(&b); b.phase != closed {
			t.Errorf("%s: the quota does not end the other thread's window", c.name)
		}
		if same := u.end == used; same != (c.messages == 5) {
			t.Errorf("%s: the CPU time is of another time than the messages", c.name)
		}
		end := a.share.spanned(combined([]result.End{a.result(result.Local), b.result(result.Local)}))
		if end.Messages != c.messages || end.Elapsed != c.elapsed {
			t.Errorf("%s: %d messages in %d, want %d in %d", c.name, end.Messages, end.Elapsed, c.messages, c.elapsed)
		}
	}
}

// A thread whose warm-up lasts longer than the others need counts nothing.
func TestSharedQuotaWithoutAWindow(t *testing.T) {
	u := &Usage{}
	a, b := sharing(spec.Test{Name: "tcp_stream", Params: spec.Params{Bytes: 20, Size: 10, Flows: 2, Threads: 2}}, u)
	for _, at := range []int64{1000, 1010, 1011, 1012} {
		a.event(1, 10, at)
	}
	used := u.end
	burn(t, 5*time.Millisecond)
	b.event(1, 10, 1005)
	b.event(1, 10, 1030)
	end := combined([]result.End{a.result(result.Local), b.result(result.Local)})
	if b.phase != closed || b.finish() || u.end != used || end.Messages != 2 || end.Elapsed != 2 {
		t.Errorf("phase %d, %d messages in %d", b.phase, end.Messages, end.Elapsed)
	}
}
