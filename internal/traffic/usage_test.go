package traffic

import (
	"errors"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// burn takes CPU time.
func burn(t *testing.T, d time.Duration) {
	t.Helper()
	total := func() int64 {
		user, system, err := sys.CPUTime()
		if errors.Is(err, errors.ErrUnsupported) {
			labtest.Skip(t, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return user + system
	}
	for until := total() + int64(d); total() < until; {
	}
}

// What the process took before the window and after it does not count.
func TestUsageIsOfTheWindow(t *testing.T) {
	const in, out = 20 * time.Millisecond, 100 * time.Millisecond
	var u Usage
	cfg := Config{Role: result.Local, Test: spec.Test{Name: "udp_rr"}, Warmup: 10, Window: 100, Usage: &u}
	m := meterOf(cfg)
	var end result.End
	if u.AddTo(&end); end.Counts != nil {
		t.Errorf("a window that never was has %v", end.Counts)
	}
	m.tick(0)
	burn(t, out)
	m.tick(10) // opens the window
	burn(t, in)
	m.tick(110) // closes it
	burn(t, out)
	u.AddTo(&end)
	if got := time.Duration(end.Counts[CountCPUUser] + end.Counts[CountCPUSystem]); len(end.Counts) != 2 || got < in || got >= in+out {
		t.Errorf("%v in the window, of %v: %v", got, in, end.Counts)
	}
}

// Several threads' windows are one, from the first to begin to the last to end.
func TestUsageOfSeveralThreads(t *testing.T) {
	const part = 10 * time.Millisecond
	var u Usage
	cfg := Config{Role: result.Local, Test: spec.Test{Name: "udp_rr"}, Window: 100, Usage: &u}
	a, b := meterOf(cfg), meterOf(cfg)
	a.tick(0)
	burn(t, part)
	b.tick(0)
	burn(t, part)
	a.tick(100)
	burn(t, part)
	b.tick(100)
	var end result.End
	u.AddTo(&end)
	if got := time.Duration(end.Counts[CountCPUUser] + end.Counts[CountCPUSystem]); got < 3*part {
		t.Errorf("%v, want %v at least", got, 3*part)
	}
	// A stream beside the test has windows of its own, which don't count.
	cfg.valve = new(valve)
	if m := meterOf(cfg); m.usage != nil {
		t.Error("a stream beside the test tells of its window")
	}
}

// What is left out may have been counted as system time: the sum is right.
func TestUsageApart(t *testing.T) {
	for _, c := range []struct{ user, system, wantUser, wantSystem int64 }{
		{5, 7, 5, 7},
		{-2, 9, 0, 7},
		{9, -2, 7, 0},
		{-3, 1, 0, 0},
	} {
		u := Usage{begun: true}
		u.end.user, u.end.system = c.user, c.system
		var end result.End
		u.AddTo(&end)
		if end.Counts[CountCPUUser] != c.wantUser || end.Counts[CountCPUSystem] != c.wantSystem {
			t.Errorf("%+v: %v", c, end.Counts)
		}
	}
}

// endWatcher notes when a window was over.
type endWatcher struct {
	Watcher
	ended int64
}

func (w *endWatcher) Warm(int64)       {}
func (w *endWatcher) Over(ended int64) { w.ended = ended }

// An end whose peer stopped early learns of it later than that was.
func TestWatcherIsToldWhenItWasOver(t *testing.T) {
	var w endWatcher
	m := meterOf(Config{Role: result.Remote, Test: spec.Test{Name: "udp_rr", Params: spec.Params{Count: 9}},
		Warmup: 10, Window: 100, Usage: &Usage{Watcher: &w}})
	for _, at := range []int64{5, 15, 20, 25} {
		m.event(1, 1, at)
	}
	m.silence(60)
	m.finish()
	if w.ended != 25 {
		t.Errorf("over at %d, not with the last message at 25", w.ended)
	}
}
