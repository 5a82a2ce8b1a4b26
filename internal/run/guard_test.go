package run

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestClockStep(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	a := reading{wall: noon, mono: time.Second}
	for _, c := range []struct {
		name       string
		wall, mono time.Duration
		want       string // in the text; empty for no warning
	}{
		{"together", 200 * time.Millisecond, 200 * time.Millisecond, ""},
		{"a little apart", 201 * time.Millisecond, 200 * time.Millisecond, ""},
		{"forward", 201*time.Millisecond + time.Microsecond, 200 * time.Millisecond, "moved by 1.001ms"},
		{"backward", -3 * time.Hour, 200 * time.Millisecond, "moved by -3h0m0.2s"},
	} {
		w := clockStep(a, reading{wall: noon.Add(c.wall), mono: time.Second + c.mono})
		switch {
		case c.want == "" && len(w) > 0:
			t.Errorf("%s: got %+v, want no warning", c.name, w)
		case c.want != "" && (len(w) != 1 || w[0].Code != CodeClockStep || !strings.Contains(w[0].Text, c.want) || w[0].Advice == ""):
			t.Errorf("%s: got %+v, want one with %q", c.name, w, c.want)
		}
	}
}

// The real clocks do not step by being read.
func TestRead(t *testing.T) {
	began := time.Now()
	a, b := read(began), read(began)
	if b.mono < a.mono || b.wall != b.wall.Round(0) {
		t.Errorf("got %+v, then %+v", a, b)
	}
}

func TestOversubscribed(t *testing.T) {
	echo, rr := spec.Test{Name: "icmp_echo"}, spec.Test{Name: "udp_rr"}
	wire, napi := []string{"the wire"}, []string{"the wire", "host a's NAPI thread", "host b's NAPI thread"}
	for _, c := range []struct {
		name string
		cpus int
		path Path
		test spec.Test
		want string
	}{
		{"two hosts", 1, Path{}, rr, ""},
		{"one machine, enough", 2, Path{OneMachine: true}, rr, ""},
		{"one machine, one CPU", 1, Path{OneMachine: true}, rr, "the threads that can be busy at once (the test's own) are more than the 1 usable CPU"},
		{"echo", 1, Path{OneMachine: true}, echo, ""},
		{"echo over a wire", 1, Path{OneMachine: true, BusyThreads: wire}, echo, "the threads that can be busy at once (the test's own, the wire) are more than the 1 usable CPU"},
		{"wire", 2, Path{OneMachine: true, BusyThreads: wire}, rr, "the threads that can be busy at once (the test's own, the wire) are more than the 2 usable CPUs"},
		{"wire, enough", 3, Path{OneMachine: true, BusyThreads: wire}, rr, ""},
		{"NAPI threads", 4, Path{OneMachine: true, BusyThreads: napi}, rr,
			"the threads that can be busy at once (the test's own, the wire, host a's NAPI thread, host b's NAPI thread) are more than the 4 usable CPUs"},
		{"NAPI threads, echo", 3, Path{OneMachine: true, BusyThreads: napi}, echo,
			"the threads that can be busy at once (the test's own, the wire, host a's NAPI thread, host b's NAPI thread) are more than the 3 usable CPUs"},
		{"NAPI threads, enough", 5, Path{OneMachine: true, BusyThreads: napi}, rr, ""},
	} {
		w := oversubscribed(c.cpus, &c.path, c.test)
		switch {
		case c.want == "" && len(w) > 0:
			t.Errorf("%s: got %+v, want no warning", c.name, w)
		case c.want != "" && (len(w) != 1 || w[0].Code != CodeOversubscribed || w[0].Text != c.want || w[0].Advice == ""):
			t.Errorf("%s: got %+v, want one with %q", c.name, w, c.want)
		}
	}
}

func TestOverrun(t *testing.T) {
	for _, c := range []struct {
		elapsed time.Duration
		want    string
	}{
		{150 * time.Millisecond, ""},
		{151 * time.Millisecond, "the remote end's window lasted 151ms rather than 100ms"},
	} {
		w := overrun(&result.End{Role: result.Remote, Elapsed: c.elapsed}, 100*time.Millisecond)
		if (c.want == "") != (len(w) == 0) || (len(w) > 0 && (w[0].Code != CodeOverrun || w[0].Text != c.want)) {
			t.Errorf("%v: got %+v, want %q", c.elapsed, w, c.want)
		}
	}
	if w := overrun(nil, time.Second); w != nil {
		t.Errorf("no such end: got %+v", w)
	}
}

func TestDeltas(t *testing.T) {
	got, w := deltas(map[string]int64{"in": 5, "out": 7, "gone": 1}, map[string]int64{"in": 8, "out": 3, "new": 2})
	if want := map[string]int64{"in": 3, "new": 2}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(w) != 1 || w[0].Code != CodeCounterReset || !strings.HasSuffix(w[0].Text, ": out") {
		t.Errorf("got %+v, want a warning about out", w)
	}
	if got, w := deltas(nil, nil); got != nil || w != nil {
		t.Errorf("no counters: got %v, %v", got, w)
	}
}

// All warnings reach the trial that they are about.
func TestWarningsReachTrial(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		one(b)
		b.cfg.CPUs = 1
		ownWarning := result.Warning{Code: "path", Text: "the path's own"}
		b.path = func(p *Path) {
			p.OneMachine = true
			p.Warnings = []result.Warning{ownWarning}
			n := int64(0)
			p.Counts = func() (map[string]int64, error) { n--; return map[string]int64{"x": n}, nil }
		}
		noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
		reads := 0
		b.cfg.clock = func() reading {
			reads++
			return reading{wall: noon.Add(time.Duration(reads) * time.Hour), mono: time.Duration(reads) * time.Second}
		}
		b.figures = func() *result.End { return &result.End{Role: result.Local, Elapsed: time.Second, Messages: 1} }
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		for i, tr := range b.trials {
			var codes []string
			for _, w := range tr.Warnings {
				codes = append(codes, w.Code)
			}
			if d := cmp.Diff([]string{"path", CodeCounterReset, CodeOversubscribed, CodeClockStep, CodeOverrun}, codes); d != "" {
				t.Errorf("trial %d: warnings (-want +got)\n%s", i, d)
			}
		}
		if want := noon.Add(time.Hour); !b.trials[0].Start.Equal(want) {
			t.Errorf("start %v, want %v", b.trials[0].Start, want)
		}
	})
}

func TestLoopback(t *testing.T) {
	at := netip.MustParseAddrPort
	for _, c := range []struct {
		local, remote string
		want          bool
	}{
		{"192.0.2.1:1", "192.0.2.2:2", false},
		{"[2001:db8::1]:1", "[2001:db8::2]:2", false},
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		{"127.0.0.1:1", "127.0.0.2:2", true},
		{"[::1]:1", "[::1]:2", true},
	} {
		w := loopback(peers{at(c.local), at(c.remote)})
		if (len(w) > 0) != c.want || c.want && w[0].Code != CodeLoopback {
			t.Errorf("%s to %s: got %v", c.local, c.remote, w)
		}
	}
}
