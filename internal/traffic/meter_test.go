package traffic

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/result"
)

// feed plays events at the given times, one byte each, to a meter with a
// warm-up of 10 and a window of 100.
func feed(times ...int64) *meter {
	m := newMeter(10, 100)
	for _, at := range times {
		m.event(1, 1, at)
	}
	return &m
}

func TestMeter(t *testing.T) {
	for _, c := range []struct {
		name     string
		m        *meter
		messages int64
		elapsed  time.Duration
		short    bool
	}{
		{"nothing", feed(), 0, 0, false},
		{"only a warm-up", feed(1000, 1005), 0, 0, true},
		// The first event starts the warm-up, the one at 1010 ends it, the one at
		// 1112 closes the window; the one after is not counted.
		{"a full window", feed(1000, 1010, 1050, 1112, 1120), 2, 102, false},
		{"ends just before", feed(1000, 1010, 1050, 1105), 2, 95, false},
		{"ends early", feed(1000, 1010, 1050), 1, 40, true},
		{"an event past warm-up and window opens it", feed(1000, 1500, 1540), 1, 40, true},
		{"nothing after the warm-up", feed(1000, 1010), 0, 0, true},
	} {
		short := c.m.finish()
		end := c.m.result(result.Remote)
		if end.Messages != c.messages || end.Bytes != c.messages || end.Elapsed != c.elapsed || short != c.short {
			t.Errorf("%s: %d messages, %d bytes in %d, short %v; want %d in %d, %v",
				c.name, end.Messages, end.Bytes, end.Elapsed, short, c.messages, c.elapsed, c.short)
		}
	}
}

func TestMeterSilence(t *testing.T) {
	m := newMeter(10, 100)
	m.silence(500)
	if m.phase != idle {
		t.Fatal("began without a message")
	}
	m.event(1, 1, 1000)
	m.silence(1009)
	if m.phase != warm {
		t.Fatalf("phase %d before the warm-up was over", m.phase)
	}
	m.silence(1030)
	m.event(1, 1, 1040)
	if m.phase != open || m.begin.at != 1010 {
		t.Fatalf("phase %d, begin %d: the warm-up was over at 1010", m.phase, m.begin.at)
	}
	m.silence(2000)
	if m.phase != open {
		t.Fatalf("phase %d: nothing has shown that the window is full", m.phase)
	}
	m.event(1, 1, 2010)
	if m.phase != closed || m.finish() {
		t.Errorf("phase %d: a window that was open to its end is short", m.phase)
	}
	if end := m.result(result.Remote); end.Elapsed != 100 || end.Messages != 1 {
		t.Errorf("%d messages in %d, want 1 in 100", end.Messages, end.Elapsed)
	}

	// Traffic that ended in the warm-up has no window, however long the silence.
	m = newMeter(10, 100)
	m.event(1, 1, 1000)
	m.silence(5000)
	short := m.finish()
	if end := m.result(result.Remote); !short || m.phase != closed || end.Elapsed != 0 || end.Messages != 0 {
		t.Errorf("short %v, phase %d, %d messages in %d after a silence longer than all", short, m.phase, end.Messages, end.Elapsed)
	}
}

// A sender that was kept waiting has a window that ends in time.
func TestMeterStall(t *testing.T) {
	m := newMeter(10, 100)
	m.event(1, 1, 1000)
	m.event(1, 1, 1010)
	m.event(1, 1, 1050)
	if m.stall(1109) || !m.stall(1130) {
		t.Fatalf("phase %d: the window was over at 1110", m.phase)
	}
	if end := m.result(result.Local); end.Elapsed != 100 || end.Messages != 1 {
		t.Errorf("%d messages in %d, want 1 in 100", end.Messages, end.Elapsed)
	}
}

// TestMeterOfAReceiver has a datagram arrive every 10 us, and a receiver that
// waits 20 ms for one, with a window of 50 ms after a warm-up of 10: whatever
// it missed, its figure must be what came to it, or be called short.
func TestMeterOfAReceiver(t *testing.T) {
	const (
		us                    = int64(time.Microsecond)
		ms                    = int64(time.Millisecond)
		every, warmup, window = 10 * us, 10 * ms, 50 * ms
	)
	type span struct{ from, to int64 } // ms from the first datagram that was sent
	for _, c := range []struct {
		name    string
		lost    []span   // by the path
		away    []span   // the thread can't run; the socket keeps 100 datagrams
		sent    int64    // ms that the sender sends for
		elapsed [2]int64 // ms, from, to
		rate    int64    // a second
		short   bool
	}{
		{"all there", nil, nil, 80, [2]int64{50, 51}, 100_000, false},
		{"begins 19 ms late", []span{{0, 19}}, nil, 80, [2]int64{50, 51}, 100_000, false},
		{"begins 24 ms late", []span{{0, 24}}, nil, 80, [2]int64{45, 47}, 100_000, false},
		{"begins 26 ms late", []span{{0, 26}}, nil, 80, [2]int64{43, 45}, 100_000, true},
		{"begins 39 ms late", []span{{0, 39}}, nil, 80, [2]int64{30, 32}, 100_000, true},
		{"a gap of 25 ms around the window's end", []span{{50, 75}}, nil, 80, [2]int64{50, 51}, 80_000, false},
		{"a gap of 25 ms around its beginning", []span{{5, 30}}, nil, 80, [2]int64{50, 51}, 60_000, false},
		// 5 ms or less go unnoticed: the next datagram opens the window.
		{"away for 4 ms as it begins", nil, []span{{8, 12}}, 80, [2]int64{50, 51}, 100_000, false},
		{"away for 25 ms as it begins", nil, []span{{5, 30}}, 80, [2]int64{50, 51}, 62_000, false},
		{"away for 25 ms as it ends", nil, []span{{45, 70}}, 80, [2]int64{64, 66}, 63_080, false},
		{"away all through it", nil, []span{{1, 200}}, 80, [2]int64{190, 191}, 526, false},
		{"away from the warm-up past the end, traffic goes on", nil, []span{{1, 200}}, 250, [2]int64{195, 196}, 3_080, false},
	} {
		in := func(all []span, at int64) *span {
			for i := range all {
				if at >= all[i].from*ms && at < all[i].to*ms {
					return &all[i]
				}
			}
			return nil
		}
		m := meterOf(Config{Role: result.Remote, Warmup: time.Duration(warmup), Window: time.Duration(window)})
		last, kept := int64(0), 0
		began := false
		for at := int64(0); at < c.sent*ms; at += every {
			if began && at-last >= 20*ms && kept == 0 {
				m.silence(at)
				last = at
			}
			if in(c.lost, at) != nil {
				continue
			}
			if in(c.away, at) != nil {
				kept = min(kept+1, 100)
				continue
			}
			for ; kept > 0; kept-- {
				m.event(1, 1, at)
			}
			m.event(1, 1, at)
			last, began = at, true
		}
		end := max(c.sent*ms, last)
		if len(c.away) > 0 {
			end = max(end, c.away[len(c.away)-1].to*ms)
		}
		for ; kept > 0; kept-- {
			m.event(1, 1, end)
		}
		m.silence(end + 20*ms)
		short := m.finish()
		got := m.result(result.Remote)
		elapsed := int64(got.Elapsed)
		rate := int64(float64(got.Messages) / got.Elapsed.Seconds())
		if elapsed < c.elapsed[0]*ms || elapsed > c.elapsed[1]*ms || short != c.short ||
			rate < c.rate*97/100 || rate > c.rate*103/100 {
			t.Errorf("%s: %d/s in %v, short %v; want %d/s in %d to %d ms, %v",
				c.name, rate, got.Elapsed, short, c.rate, c.elapsed[0], c.elapsed[1], c.short)
		}
	}
}

func TestMeterWithoutWarmup(t *testing.T) {
	m := newMeter(0, 100)
	if !m.tick(1000) || m.phase != open || m.begin.at != 1000 {
		t.Fatalf("phase %d, begin %d", m.phase, m.begin.at)
	}
	m.event(1, 1, 1100)
	if end := m.result(result.Local); end.Messages != 1 || end.Elapsed != 100 {
		t.Errorf("%d messages in %d", end.Messages, end.Elapsed)
	}
}

// TestMeterCountsWhatIsWithin compares it with a count made afterwards.
func TestMeterCountsWhatIsWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		warmup := rapid.Int64Range(0, 50).Draw(t, "warmup")
		length := rapid.Int64Range(1, 200).Draw(t, "window")
		m := newMeter(time.Duration(warmup), time.Duration(length))
		at := rapid.Int64Range(-1000, 1000).Draw(t, "start")
		var times []int64
		for _, gap := range rapid.SliceOfN(rapid.Int64Range(0, 30), 1, 60).Draw(t, "gaps") {
			at += gap
			times = append(times, at)
			m.event(1, 3, at)
		}
		ended := m.phase == closed
		m.finish()
		end := m.result(result.Remote)

		begin, last, n := int64(0), int64(0), int64(0)
		isOpen := false
		for _, at := range times {
			switch {
			case !isOpen && at >= times[0]+warmup:
				isOpen, begin, last = true, at, at
			case isOpen && last < begin+length:
				n++
				last = at
			}
		}
		if end.Messages != n || end.Bytes != 3*n || end.Elapsed != time.Duration(last-begin) {
			t.Fatalf("%d messages in %d, want %d in %d", end.Messages, end.Elapsed, n, last-begin)
		}
		if ended != (isOpen && last >= begin+length) {
			t.Fatalf("closed %v with the last event at %d of a window from %d", ended, last, begin)
		}
	})
}
