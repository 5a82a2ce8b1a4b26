package traffic

import (
	"testing"
	"time"

	"netdelta/internal/spec"
)

// A count ends a window of any test, and the other end's too.
func TestCountEndsTheWindow(t *testing.T) {
	for name, c := range map[string]struct {
		test          string
		p             spec.Params
		local, remote int64 // messages or bytes, at least
	}{
		"udp_rr":                {"udp_rr", spec.Params{Size: 8, Count: 50}, 50, 0},
		"tcp_rr":                {"tcp_rr", spec.Params{Size: 8, Bytes: 400}, 50, 0},
		"udp_rr at a rate":      {"udp_rr", spec.Params{Size: 8, Rate: 1000, Count: 50}, 50, 1},
		"tcp_rr at a rate":      {"tcp_rr", spec.Params{Size: 8, Rate: 1000, Count: 50}, 50, 1},
		"udp_rr beside a load":  {"udp_rr", spec.Params{Size: 8, Load: "tcp_stream", Count: 50}, 50, 0},
		"udp_stream":            {"udp_stream", spec.Params{Size: 8, Count: 500}, 500, 0},
		"tcp_stream":            {"tcp_stream", spec.Params{Size: 1000, Count: 500}, 500_000, 500_000},
		"tcp_stream, two flows": {"tcp_stream", spec.Params{Size: 1000, Bytes: 500_000, Flows: 2, Threads: 2}, 500_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tr := trial{test: c.test, params: c.p, addr: loopbacks["ipv4"], warmup: testWarmup, window: 15 * time.Second}
			began := time.Now()
			local, remote := tr.run(t)
			if took := time.Since(began); took > 5*time.Second || local.Elapsed > 5*time.Second {
				t.Errorf("took %v, a window of %v", took, local.Elapsed)
			}
			l, r := local.Messages, remote.Messages
			if _, bytes := (spec.Test{Name: c.test, Params: c.p}).Limit(); bytes > 0 {
				l, r = local.Bytes, remote.Bytes
			}
			if l < c.local || r < c.remote || c.remote > 0 && warned(remote, WarnShortWindow) {
				t.Errorf("%d and %d, want %d and %d; %v", l, r, c.local, c.remote, remote.Warnings)
			}
			if c.p.Rate == 0 && local.RTT != nil && l != c.local {
				t.Errorf("%d messages, want %d", l, c.local)
			}
		})
	}
}

// Threads have one quota, whose end is that of all: there is no more than was
// under way then, and the rate is of the time of all windows.
func TestCountOfSeveralThreads(t *testing.T) {
	const threads = 3
	for name, c := range map[string]struct {
		test string
		p    spec.Params
		over int64 // messages that may be under way in a thread
	}{
		"udp_rr":              {"udp_rr", spec.Params{Size: 8, Flows: 7, Count: 1001}, 1},
		"tcp_rr":              {"tcp_rr", spec.Params{Size: 8, Flows: 7, Burst: 2, Bytes: 8008}, 2},
		"tcp_crr":             {"tcp_crr", spec.Params{Size: 8, Flows: threads, Count: 101}, 1},
		"tcp_crr, a few":      {"tcp_crr", spec.Params{Size: 8, Flows: threads, Count: 1}, 1},
		"udp_stream":          {"udp_stream", spec.Params{Size: 8, Flows: 7, Count: 1001}, 1},
		"udp_stream, batches": {"udp_stream", spec.Params{Size: 8, Flows: threads, Send: "sendmmsg", Count: 1001}, 64},
	} {
		t.Run(name, func(t *testing.T) {
			c.p.Threads = threads
			tr := trial{test: c.test, params: c.p, addr: loopbacks["ipv4"], warmup: testWarmup, window: 15 * time.Second}
			local, remote := tr.run(t)
			want := int64(c.p.Count)
			if c.p.Bytes != 0 {
				want = int64(c.p.Bytes / c.p.Size)
			}
			if got := local.Messages; got < want || got > want+threads*c.over {
				t.Errorf("%d messages, want %d and at most %d more", got, want, threads*c.over)
			}
			if local.Elapsed <= 0 || local.Elapsed > 5*time.Second || warned(remote, WarnShortWindow) {
				t.Errorf("a window of %v, %v", local.Elapsed, remote.Warnings)
			}
			if local.RTT != nil && local.RTT.Count() != local.Messages+local.Counts[CountLate] {
				t.Errorf("%d samples of %d messages, %v", local.RTT.Count(), local.Messages, local.Counts)
			}
		})
	}
}
