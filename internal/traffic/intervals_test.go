package traffic

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/hist"
	"netdelta/internal/result"
)

// parted is a meter with a warm-up of 10 and a window of 100 in intervals.
func parted(interval time.Duration) *meter {
	m := meterOf(Config{Warmup: 10, Window: 100, Interval: interval})
	return &m
}

func TestIntervals(t *testing.T) {
	type part struct{ at, elapsed, messages int64 }
	events := func(times ...int64) func(*meter) {
		return func(m *meter) {
			for _, at := range times {
				m.event(1, 1, at)
			}
			m.finish()
		}
	}
	for _, c := range []struct {
		name     string
		interval time.Duration
		play     func(*meter)
		want     []part
	}{
		{"none", 0, events(1000, 1010, 1050, 1112), nil},
		{"as long as the window", 100, events(1000, 1010, 1050, 1112), nil},
		// The window begins at 1010; its grid is 1050, 1090, 1110.
		{"each ends with the first message after its time", 40, events(1000, 1010, 1030, 1052, 1091, 1100, 1112),
			[]part{{42, 42, 2}, {81, 39, 1}, {102, 21, 2}}},
		{"a message on the grid ends an interval", 50, events(1000, 1010, 1060, 1110), []part{{50, 50, 1}, {100, 50, 1}}},
		{"a long gap is one interval", 20, events(1000, 1010, 1020, 1085, 1095, 1110),
			[]part{{75, 75, 2}, {85, 10, 1}, {100, 15, 1}}},
		{"a gap to the end", 20, events(1000, 1010, 1020, 1150), []part{{140, 140, 2}}},
		{"the traffic ends early", 40, events(1000, 1010, 1055, 1060), []part{{45, 45, 1}, {50, 5, 1}}},
		{"the traffic ends with an interval", 40, events(1000, 1010, 1055), []part{{45, 45, 1}}},
		{"nothing after the warm-up", 40, events(1000, 1010), nil},
		{"silence ends intervals in time", 40, func(m *meter) {
			events := []int64{1000, 1010, 1020, 1060}
			for now := int64(1000); now <= 1130; now += 5 {
				m.silence(now)
				if len(events) > 0 && events[0] == now {
					m.event(1, 1, now)
					events = events[1:]
				}
			}
			m.event(1, 1, 1135)
		}, []part{{40, 40, 2}, {80, 40, 1}, {100, 20, 0}}},
		{"silence noticed late", 20, func(m *meter) {
			m.event(1, 1, 1000)
			m.event(1, 1, 1010)
			m.event(1, 1, 1015)
			m.silence(1075)
			m.event(1, 1, 1080)
			m.silence(1200)
			m.event(1, 1, 1210)
		}, []part{{20, 20, 1}, {40, 20, 0}, {60, 20, 0}, {80, 20, 1}, {100, 20, 0}}},
		{"silence before the traffic was over", 20, func(m *meter) {
			m.event(1, 1, 1000)
			m.event(1, 1, 1010)
			m.event(1, 1, 1035)
			m.silence(1095)
			m.finish()
		}, []part{{25, 25, 1}}},
	} {
		m := parted(c.interval)
		c.play(m)
		var got []part
		for _, i := range m.result(result.Remote).Intervals {
			got = append(got, part{int64(i.At), int64(i.Elapsed), i.Messages})
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: got %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

// Whatever comes when, the intervals follow one another, add up to the window
// and change nothing of it.
func TestIntervalsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, divided := parted(0), parted(time.Duration(rapid.Int64Range(1, 99).Draw(t, "interval")))
		whole.receives = rapid.Bool().Draw(t, "receives")
		divided.receives = whole.receives
		rtt, of := hist.New(), hist.New()
		divided.time(of)
		now := int64(1000)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now += rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, 60)).Draw(t, "wait")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				whole.silence(now)
				divided.silence(now)
			case 4:
				whole.stall(now)
				divided.stall(now)
			case 1:
				whole.tick(now)
				divided.tick(now)
			default:
				if whole.phase == open {
					rtt.Record(now)
					divided.samples(of).Record(now)
				}
				whole.event(1, 2, now)
				divided.event(1, 2, now)
			}
			if whole.phase != divided.phase {
				t.Fatalf("at %d the phases differ: %d and %d", now, whole.phase, divided.phase)
			}
		}
		if whole.finish() != divided.finish() {
			t.Fatal("only one was short")
		}
		a, b := whole.result(result.Local), divided.result(result.Local)
		var messages, bytes int64
		for _, i := range b.Intervals {
			messages, bytes = messages+i.Messages, bytes+i.Bytes
		}
		if len(b.Intervals) > 0 && (messages != b.Messages || bytes != b.Bytes || b.Intervals[len(b.Intervals)-1].At != b.Elapsed) {
			t.Fatalf("%+v do not add up to %+v", b.Intervals, b)
		}
		if len(b.Intervals) == 0 && b.Elapsed > 0 {
			t.Fatalf("no intervals of %+v", b)
		}
		if err := b.Validate(); err != nil {
			t.Fatal(err)
		}
		if b.Intervals = nil; a.Elapsed != b.Elapsed || a.Messages != b.Messages || a.Bytes != b.Bytes {
			t.Fatalf("divided it is %+v, whole %+v", b, a)
		}
		if divided.phase == closed && !rtt.Equal(of) {
			t.Fatal("the round trips differ")
		}
	})
}

func TestIntervalRoundTrips(t *testing.T) {
	m := parted(50)
	rtt := hist.New()
	m.time(rtt)
	now := int64(1000)
	m.event(1, 1, now)
	m.event(1, 1, 1010)
	for i := range int64(200) { // one each half
		m.samples(rtt).Record(1000 + i)
		m.event(1, 1, 1010+i/2)
	}
	m.samples(rtt).Record(5)
	m.event(1, 1, 1111)
	all := m.result(result.Local).Intervals
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	// 101 round trips of 1000 and up; then 99 and the one of 5 ns.
	if r := all[0].RTT; r.P50 < 1046 || r.P50 > 1054 || r.P99 == 0 || r.Max != 1100 {
		t.Errorf("first: %+v", r)
	}
	if r := all[1].RTT; r.P50 == 0 || r.P99 == 0 || r.Max != 1199 {
		t.Errorf("second: %+v", r)
	}
	if rtt.Count() != 201 || rtt.Min() != 5 {
		t.Errorf("the window has %d round trips from %d ns", rtt.Count(), rtt.Min())
	}
}

func TestFewRoundTripsHaveNoP99(t *testing.T) {
	h := hist.New()
	if r := roundTrips(h); r != (result.RTT{}) {
		t.Errorf("of none: %+v", r)
	}
	for range fewestForP99 - 1 {
		h.Record(7)
	}
	if r := roundTrips(h); r.P50 != 7 || r.P99 != 0 || r.Max != 7 {
		t.Errorf("of 99: %+v", r)
	}
	h.Record(7)
	if r := roundTrips(h); r.P99 != 7 {
		t.Errorf("of 100: %+v", r)
	}
}

// What an interval costs the traffic thread, with 50,000 round trips in it.
func BenchmarkIntervalEnd(b *testing.B) {
	p := newIntervals(time.Second, time.Hour)
	whole := hist.New()
	p.time(whole)
	full := hist.New()
	for i := range int64(50_000) {
		full.Record(15_000 + i*i%90_000)
	}
	p.open(mark{})
	b.ReportAllocs()
	at := mark{}
	for b.Loop() {
		b.StopTimer()
		p.part.Merge(full)
		p.done.Store(0)
		at.at += int64(time.Second)
		b.StartTimer()
		p.cut(at)
	}
}
