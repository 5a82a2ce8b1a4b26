package traffic

import (
	"testing"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
)

// The rate of all threads is the sum of theirs, and nothing is lost of what
// each has counted.
func TestCombined(t *testing.T) {
	a, b := hist.New(), hist.New()
	a.Record(1000)
	b.Record(2000)
	b.Record(3000)
	w := result.Warning{Code: "x", Text: "y"}
	ends := []result.End{
		{Role: result.Local, Elapsed: time.Second, Messages: 100, Bytes: 1000, RTT: a, Counts: map[string]int64{"sent": 100}, Warnings: []result.Warning{w},
			Intervals: []result.Interval{{At: 1, Elapsed: 1, Messages: 60, Bytes: 600, RTT: result.RTT{P50: 5, Max: 9}}, {At: 2, Elapsed: 1, Messages: 40, Bytes: 400}}},
		{Role: result.Local, Elapsed: 960 * time.Millisecond, Messages: 192, Bytes: 4000, RTT: b, Counts: map[string]int64{"sent": 401, "lost": 1}, Warnings: []result.Warning{w},
			Intervals: []result.Interval{{At: 1, Elapsed: 1, Messages: 400, Bytes: 4000, RTT: result.RTT{P50: 6, Max: 12}}}},
	}
	got := combined(ends)
	if rate := float64(got.Messages) / got.Elapsed.Seconds(); got.Messages != 292 || rate < 299.999 || rate > 300.001 {
		t.Errorf("%d messages in %v: %v/s, want 292 at 300/s", got.Messages, got.Elapsed, rate)
	}
	if got.Bytes != 5000 || got.Counts["sent"] != 501 || got.Counts["lost"] != 1 || len(got.Warnings) != 1 {
		t.Errorf("got %+v", got)
	}
	if got.RTT.Count() != 3 || a.Count() != 1 {
		t.Errorf("%d round trips, and %d left in the first thread's", got.RTT.Count(), a.Count())
	}
	if len(got.Intervals) != 1 || got.Intervals[0].Messages != 460 || got.Intervals[0].RTT != (result.RTT{Max: 12}) {
		t.Errorf("intervals %+v", got.Intervals)
	}
	// One whose traffic stopped right after its window had begun has no rate.
	short := combined([]result.End{{Elapsed: time.Second, Messages: 1000}, {Elapsed: time.Microsecond, Messages: 5}, {Messages: 5}})
	if short.Messages != 1010 || short.Elapsed != time.Second {
		t.Errorf("with two short windows: %+v", short)
	}
	if silent := combined([]result.End{{Elapsed: 5}, {Elapsed: 7}}); silent.Elapsed != 7 || silent.Messages != 0 {
		t.Errorf("two silent threads: %+v", silent)
	}
}
