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
	m.event(1, 1, 2010)
	if m.finish() {
		t.Error("a window that was open to its end is short")
	}
	if end := m.result(result.Remote); end.Elapsed != 100 || end.Messages != 1 {
		t.Errorf("%d messages in %d, want 1 in 100", end.Messages, end.Elapsed)
	}

	m = newMeter(10, 100)
	m.event(1, 1, 1000)
	m.silence(5000)
	if end := m.result(result.Remote); m.phase != closed || end.Elapsed != 100 || end.Messages != 0 {
		t.Errorf("phase %d, %d messages in %d after a silence longer than all", m.phase, end.Messages, end.Elapsed)
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
