package traffic

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestReplyTimeout(t *testing.T) {
	for _, c := range []struct{ longest, want time.Duration }{
		{0, firstTimeout},
		{20 * time.Microsecond, minTimeout},
		{time.Millisecond, 20 * time.Millisecond},
		{50 * time.Millisecond, maxTimeout},
		{time.Second, 2 * time.Second},
	} {
		if got := replyTimeout(c.longest); got != c.want {
			t.Errorf("longest round trip %v: timeout %v, want %v", c.longest, got, c.want)
		}
	}
}

func TestPending(t *testing.T) {
	const oneByte = 0xff
	var p pending
	p.giveUp(5, 100)
	p.giveUp(7, 200)
	if p.waiting != 2 {
		t.Errorf("%d waiting, want 2", p.waiting)
	}
	for _, c := range []struct {
		what         string
		low, current uint64
		sent         int64
		ok           bool
	}{
		{"one that was answered", 6, 8, 0, false},
		{"the present one", 8, 8, 0, false},
		{"the newest", 7, 8, 200, true},
		{"the newest once more", 7, 8, 0, false},
		{"one whose number has come round", 5, 5 + 256, 0, false},
		{"the oldest that can be told", 5, 5 + 255, 100, true},
	} {
		if sent, ok := p.answered(c.low, c.current, oneByte); sent != c.sent || ok != c.ok {
			t.Errorf("%s: sent at %d, %v; want %d, %v", c.what, sent, ok, c.sent, c.ok)
		}
	}
	if p.waiting != 0 {
		t.Errorf("%d waiting, want 0", p.waiting)
	}
}

// TestPendingForgetsTheOldest gives up more than it remembers.
func TestPendingForgetsTheOldest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pending
		n := uint64(rapid.IntRange(1, 3*pendingSize).Draw(t, "given up"))
		for seq := uint64(1); seq <= n; seq++ {
			p.giveUp(seq, int64(seq))
		}
		if want := min(int(n), pendingSize); p.waiting != want {
			t.Fatalf("%d waiting, want %d", p.waiting, want)
		}
		seq := rapid.Uint64Range(1, n).Draw(t, "answered")
		sent, ok := p.answered(seq, n+1, ^uint64(0))
		if want := n-seq < pendingSize; ok != want || ok && sent != int64(seq) {
			t.Fatalf("%d of %d: sent at %d, %v; want %v", seq, n, sent, ok, want)
		}
	})
}
