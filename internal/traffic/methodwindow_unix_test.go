//go:build linux || darwin || freebsd

package traffic

import (
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// TestWindowOfOneCall has a receiver that finds, late, all that its window was
// to have in one call: that call is the window's, and those before are not.
func TestWindowOfOneCall(t *testing.T) {
	cfg := Config{Role: result.Remote, Test: spec.Test{Name: "tcp_stream", Params: spec.Params{Size: 100, Bytes: 100}},
		Warmup: 10 * time.Millisecond, Window: 10 * time.Millisecond}
	late := int64(time.Second)

	stats := &methodStats{calls: 40}
	tcp := newReceivingHalf(&cfg, &team{}, nil)
	tcp.stats = stats
	tcp.meter.event(1, 100, 0)
	tcp.turned()
	stats.calls++
	if tcp.meter.event(1, 100, late); tcp.meter.phase != closed {
		t.Fatalf("phase %v", tcp.meter.phase)
	}
	tcp.turned()
	if end := tcp.result(); end.Messages != 1 || end.Counts[CountReceiveCalls] != 1 {
		t.Errorf("%d messages in %v", end.Messages, end.Counts)
	}

	did := methodWindow{}
	did.turned(warm, stats)
	did.turned(closed, stats)
	for messages, want := range map[int64]int64{0: 0, 1: 1, 100: 1} {
		counts := map[string]int64{}
		if did.recvCounts(counts, messages); counts[CountReceiveCalls] != want {
			t.Errorf("%d messages: %v", messages, counts)
		}
	}
}
