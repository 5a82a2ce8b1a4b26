package findings

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

const mib = 8 << 20 // bits

// The kernel thread of a user-mode switch that made round trips 31 times as long: its
// writer told of TCP's fall from 116 to 16.24 MiB/s and not of the window behind it.
func userModeSwitch(t *testing.T) world {
	return world{oneFactor(t, "rx", "icmp_echo,udp_stream,tcp_stream", "tasklet", "thread"),
		func(x *result.Trial, v spec.Variant, wiggle float64) {
			slow := v["rx"] == "thread"
			round, udp, stream := 181*time.Microsecond, 116.0, 116.0
			if slow {
				round, udp, stream = 5585*time.Microsecond, 106, 16.24
			}
			switch x.Test.Name {
			case "icmp_echo":
				rtt(x, round, wiggle)
			case "udp_stream":
				goodput(x, udp*mib, wiggle)
			case "tcp_stream":
				goodput(x, stream*mib, wiggle)
				tcp(x, round, round, 4<<20, 3<<20, 262144, wiggle)
			}
		}}
}

func TestWindowOfAUserModeSwitch(t *testing.T) {
	r := userModeSwitch(t).look(t, Window)
	said(t, r,
		"thread against tasklet: tcp_stream goodput -86% (-86 to -86) follows the round trip: under thread 256 KiB under way over 5.59 ms can't pass 375 Mbit/s, and 136 Mbit/s was reached, so something else holds it below that; "+
			"the send buffer (256 KiB) is below the product of bandwidth and delay (664 KiB at the 973 Mbit/s of tasklet).",
		"thread against tasklet: TCP suffers more than UDP: tcp_stream goodput -86% (-86 to -86), udp_stream -8.6% (-8.7 to -8.5).")
	s := section(t, r, "window")
	for _, c := range []struct {
		column string
		want   float64
	}{{"window", 262144}, {"rtt", 5.585e6}, {"window/rtt", 375.5e6}, {"reached", 136.2e6}, {"product", 95100}} {
		if got := cell(t, s, "thread", c.column); !near2(got.Value, c.want) || got.Lo == nil && c.column != "product" {
			t.Errorf("%s %v, want %v", c.column, deref(got.Value), c.want)
		}
	}
	if by, held := cell(t, s, "thread", "set by"), cell(t, s, "thread", "held by"); by.Text != "sndbuf" || held.Text != "other" {
		t.Errorf("%q %q", by.Text, held.Text)
	}
}

// The same with a goodput that the window explains to the last byte, told in either
// direction.
func TestWindowThatHolds(t *testing.T) {
	for _, levels := range [][]string{{"short", "long"}, {"long", "short"}} {
		w := world{oneFactor(t, "delay", "udp_rr,tcp_stream", levels...), func(x *result.Trial, v spec.Variant, wiggle float64) {
			round, stream := 200*time.Microsecond, 1e9
			if v["delay"] == "long" {
				round, stream = 10*time.Millisecond, 190e6
			}
			if x.Test.Name == "udp_rr" {
				rtt(x, round, wiggle)
				return
			}
			goodput(x, stream, wiggle)
			info := tcp(x, round, round, 4<<20, 256<<10, 4<<20, wiggle)
			info.Counts = map[string]int64{"busy_ns": 1e9, "rwnd_limited_ns": 930e6}
		}}
		r := w.look(t, Window)
		want := "long against short: tcp_stream goodput -81% (-81 to -81)"
		if levels[0] == "long" {
			want = "short against long: tcp_stream goodput +426% (426 to 427)"
		}
		said(t, r, want+" follows the round trip: under long 256 KiB under way over 10.0 ms can't pass 210 Mbit/s, and 190 Mbit/s was reached; "+
			"the receiver's window (256 KiB) is below the product of bandwidth and delay (1.19 MiB at the 1.00 Gbit/s of short); "+
			"the sender waited for the receiver's window for 93% of its time.")
		s := section(t, r, "window")
		if long, short := cell(t, s, "long", "held by"), cell(t, s, "short", "held by"); long.Text != "window" || short.Text != "other" {
			t.Errorf("%v: %q %q", levels, long.Text, short.Text)
		}
	}
}

// TCP and UDP against each other, by what each lost.
func TestTCPAgainstUDP(t *testing.T) {
	for _, c := range []struct {
		rtt, tcp, udp float64 // of the change, as a multiple
		want          string  // beginning of the sentence; empty for none
	}{
		{2, 0.5, 0.9, "TCP suffers more than UDP:"},
		{2, 0.9, 0.5, "UDP suffers more than TCP:"},
		{1, 0.5, 0.5, "TCP and UDP can't be told apart:"},
		{2, 1.1, 1, "neither TCP nor UDP suffers from longer round trips:"},
		{1, 1.1, 1.2, ""},
	} {
		w := world{oneFactor(t, "rx", "udp_rr,udp_stream,tcp_stream", "a", "b"), func(x *result.Trial, v spec.Variant, wiggle float64) {
			round, streams := 50*time.Microsecond, map[string]float64{"udp_stream": 2e9, "tcp_stream": 1e9}
			if v["rx"] == "b" {
				round = time.Duration(float64(round) * c.rtt)
				streams["udp_stream"] *= c.udp
				streams["tcp_stream"] *= c.tcp
			}
			if x.Test.Name == "udp_rr" {
				rtt(x, round, wiggle)
				return
			}
			goodput(x, streams[x.Test.Name], wiggle)
		}}
		r := w.look(t, Window)
		if c.want == "" {
			said(t, r)
			continue
		}
		if len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0], "b against a: "+c.want) {
			t.Errorf("%+v: %q", c, r.Findings)
		}
	}
}

// labLike is a wire whose thread makes round trips longer and streams faster.
func labLike(t *testing.T) world {
	return world{oneFactor(t, "rx", "udp_rr,tcp_stream", "softirq", "kthread"), func(x *result.Trial, v spec.Variant, wiggle float64) {
		round, stream, wakeups := 30*time.Microsecond, 4e9, int64(1000)
		if v["rx"] == "kthread" {
			round, stream, wakeups = 39*time.Microsecond, 5.56e9, 489
		}
		if x.Test.Name == "udp_rr" {
			rtt(x, round, wiggle)
			return
		}
		goodput(x, stream, wiggle)
		tcp(x, 20*round, round, 3<<20, 3<<20, 4<<20, wiggle)
		x.Path.Counts = map[string]int64{"wire.a_to_b.frames_in": int64(9100 * wiggle), "wire.a_to_b.wakeups": wakeups}
	}}
}

func TestWindowThatDoesNotMatter(t *testing.T) {
	r := labLike(t).look(t, Window)
	said(t, r, "kthread against softirq: tcp_stream goodput +39% (39 to 39) though udp_rr p50 rose +30% (30 to 30): latency does not hold it: "+
		"the product of bandwidth and delay is 26.5 KiB under kthread, and 3.00 MiB may be under way; "+
		"the wire found 9.10 frames at each wake-up and finds 18.6.")
}

// A window that only the stream's own queue makes too small holds nothing.
func TestWindowBehindItsOwnQueue(t *testing.T) {
	w := world{oneFactor(t, "rate", "udp_rr,tcp_stream", "fast", "slow"), func(x *result.Trial, v spec.Variant, wiggle float64) {
		stream, round, alone := 1e9, time.Millisecond, 100*time.Microsecond
		if v["rate"] == "slow" {
			stream, round, alone = 100e6, 20*time.Millisecond, 110*time.Microsecond // 244 KiB in the queue
		}
		if x.Test.Name == "udp_rr" {
			rtt(x, alone, wiggle)
			return
		}
		goodput(x, stream, wiggle)
		tcp(x, round, 100*time.Microsecond, 250e3, 3<<20, 4<<20, wiggle)
	}}
	r := w.look(t, Window)
	said(t, r, "slow against fast: tcp_stream goodput -90.0% (-90.0 to -90), but not for want of a window: "+
		"the product of bandwidth and delay is 1.34 KiB under slow, and 243 KiB may be under way.")
	if got := cell(t, section(t, r, "window"), "slow", "held by"); got.Text != "path" {
		t.Errorf("held by %q", got.Text)
	}
}

// A window that is smaller over the same round trip is no matter of the round trip.
func TestWindowOfTheSameRoundTrip(t *testing.T) {
	w := world{oneFactor(t, "buffer", "tcp_stream", "large", "small"), func(x *result.Trial, v spec.Variant, wiggle float64) {
		stream, window := 1e9, int64(4<<20)
		if v["buffer"] == "small" {
			stream, window = 100e6, 125e3
		}
		goodput(x, stream, wiggle)
		tcp(x, 10*time.Millisecond, 10*time.Millisecond, 8<<20, window, 8<<20, wiggle)
	}}
	r := w.look(t, Window)
	said(t, r)
	if got := cell(t, section(t, r, "window"), "small", "held by"); got.Text != "window" {
		t.Errorf("held by %q", got.Text)
	}
}

// Without round trips in the plan the shortest that the stream saw stands for them.
func TestWindowWithoutRoundTrips(t *testing.T) {
	w := userModeSwitch(t)
	w.plan = oneFactor(t, "rx", "tcp_stream", "tasklet", "thread")
	r := w.look(t, Window)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "follows the round trip") {
		t.Errorf("%q", r.Findings)
	}
}

// The sender of a stream that comes back is the remote end; what is known of one flow
// counts for each; and the smallest of what is known is the window.
func TestUnderWay(t *testing.T) {
	maerts := testOf(t, "tcp_maerts")
	x := result.Trial{Test: maerts, Remote: &result.End{}, Path: result.Path{Counts: map[string]int64{
		"wire.b_to_a.frames_in": 12, "wire.b_to_a.wakeups": 4, "wire.a_to_b.frames_in": 7, "wire.a_to_b.wakeups": 7}}}
	levels(x.Remote, result.SourceTCPInfo, map[string]int64{"flows": 3, "cwnd": 10, "mss": 1000, "snd_wnd": 9000, "rtt_ns": 5000, "min_rtt_ns": 4000}).Counts =
		map[string]int64{"busy_ns": 100, "rwnd_limited_ns": 25, "sndbuf_limited_ns": 50}
	levels(&x.Local, result.SourceTCPInfo, map[string]int64{"cwnd": 1, "mss": 1, "rtt_ns": 1})
	u := underWayIn(&x)
	if u.window != 27000 || u.by != byReceiver || u.rtt != 5000 || u.least != 4000 || u.rwnd != 0.25 || u.sndbuf != 0.5 || u.why != "" {
		t.Errorf("%+v", u)
	}
	if got := framesPerWakeup(&x); got != 3 {
		t.Errorf("%v frames", got)
	}
	levels(&x.Local, result.SourceSockets, map[string]int64{"rcvbuf": 8000, "sndbuf": 1})
	if u = underWayIn(&x); u.window != 24000 || u.by != byRecvBuffer {
		t.Errorf("%+v", u)
	}
	for _, c := range []struct {
		spoil func(*result.Trial)
		why   string
	}{
		{func(x *result.Trial) { x.Remote = nil }, "no sender"},
		{func(x *result.Trial) { x.Remote.Counters = nil }, "TCP_INFO was not read"},
		{func(x *result.Trial) { delete(x.Remote.Counters.Readings[0].Levels, "rtt_ns") }, "TCP_INFO has no round trip"},
	} {
		y := x
		remote := *x.Remote
		y.Remote = &remote
		c.spoil(&y)
		if u := underWayIn(&y); u.why != c.why {
			t.Errorf("%q, want %q", u.why, c.why)
		}
	}
}

func TestWindowUnread(t *testing.T) {
	w := userModeSwitch(t)
	make := w.make
	w.make = func(x *result.Trial, v spec.Variant, wiggle float64) {
		make(x, v, wiggle)
		if x.Test.Name == "tcp_stream" {
			x.Local.Counters = &result.Counters{Missing: []result.Fact{{Name: result.SourceTCPInfo, Value: "no such option"}}}
		}
	}
	r := w.look(t, Window)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "TCP suffers more than UDP") {
		t.Errorf("%q", r.Findings)
	}
	s := section(t, r, "window")
	for _, c := range []string{"window", "set by", "rtt", "window/rtt"} {
		if got := cell(t, s, "thread", c); got.Value != nil || got.Text != "n/a (TCP_INFO: no such option)" {
			t.Errorf("%s: %+v", c, got)
		}
	}
	if got := cell(t, s, "thread", "held by"); got.Text != "not known" {
		t.Errorf("%q", got.Text)
	}
}

func TestWindowWithNothingToTell(t *testing.T) {
	w := userModeSwitch(t)
	w.make = func(x *result.Trial, _ spec.Variant, wiggle float64) {
		if x.Test.Kind().IsStream() {
			goodput(x, 1e9, wiggle)
			return
		}
		rtt(x, 100*time.Microsecond, wiggle)
	}
	r := w.look(t, Window)
	said(t, r)
	if len(r.Sections) != 0 {
		t.Errorf("%+v", r.Sections)
	}
}
