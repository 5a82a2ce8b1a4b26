package findings

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

var truthLevels = []string{"none", "delay-10us", "delay-100us", "loss-1/100", "duplicate-1/50", "reorder-1/50", "rate-100Mbit/s"}

// trueWire is a path on which all is found that was put in.
func trueWire() madeUp {
	return madeUp{factors: []spec.Factor{{Name: putIn, Levels: truthLevels}}, tests: "udp_rr,udp_stream,tcp_stream", blocks: 6,
		fill: func(t *made, noise float64) {
			what, value, _ := strings.Cut(t.Variant[putIn], "-")
			switch {
			case udpRR(t.Test):
				held := time.Duration(0)
				if what == "delay" {
					held, _ = time.ParseDuration(value)
					t.path(map[string]int64{"wire.a_to_b.held_frames": 250, "wire.a_to_b.held_ns": 250 * int64(held), "wire.a_to_b.late_1us": 240, "wire.a_to_b.late_5us": 10})
				}
				t.roundTrips(30_000*(1+noise) + 2*float64(held))
			case udpStream(t.Test):
				t.stream(1e8)
				t.touch(what)
			default:
				rate := 5e9
				if what == "rate" {
					n, _ := unit.ParseBitRate(value)
					rate = float64(n) * 1448 / 1538
				}
				t.stream(rate * (1 + noise))
				reads(&t.Local, result.SourceTCPInfo, map[string]int64{"bytes_sent": 1448000, "data_segs_out": 1000}, map[string]int64{"mss": 1448, "pmtu": 1500})
			}
		}}
}

// touch has the wire do to every so manyth datagram what it was asked for.
func (t *made) touch(what string) {
	n := t.Path.Counts["wire.a_to_b.known_frames"]
	switch what {
	case "loss":
		t.path(map[string]int64{"wire.a_to_b.drop_loss": n / 100})
		for _, name := range []string{"unique", "total", "received_all"} {
			t.Remote.Counts[name] -= n / 100
		}
	case "duplicate":
		t.path(map[string]int64{"wire.a_to_b.duplicated": n / 50})
		for _, name := range []string{"duplicates", "total", "received_all", "duplicates_all"} {
			t.Remote.Counts[name] += n / 50
		}
	case "reorder":
		t.path(map[string]int64{"wire.a_to_b.reordered": n / 50})
		t.Remote.Counts["reordered"], t.Remote.Counts["reordered_all"] = n/50, n/50
	}
}

func TestTruthIsFound(t *testing.T) {
	in := trueWire().input(t)
	Truth(in)
	if len(in.Report.Checks) != len(truthLevels) {
		t.Errorf("%d checks of %d levels", len(in.Report.Checks), len(truthLevels))
	}
	for _, c := range in.Report.Checks {
		if !c.Pass || c.Found == nil {
			t.Errorf("%+v", c)
		}
	}
	says(t, in, "All 7 of 7 found")
	if c := checkOf(t, in, "delay 100us"); *c.Found < 99_000 || *c.Found > 101_000 || c.Within != 10_000 || c.Lo == nil || !strings.Contains(c.Text, "up to 1 us late") && !strings.Contains(c.Text, "up to 5 us late") {
		t.Errorf("%+v", c)
	}
	if c := checkOf(t, in, "delay 10us"); c.Within != 2000 {
		t.Errorf("%+v", c)
	}
	if c := checkOf(t, in, "loss"); c.Within != 0 || *c.Found != c.Wanted || c.Wanted == 0 || !strings.Contains(c.Text, "every 100th") {
		t.Errorf("%+v", c)
	}
	// 1448 of 1538 bytes.
	if c := checkOf(t, in, "rate"); c.Wanted < 94.14e6 || c.Wanted > 94.15e6 {
		t.Errorf("%+v", c)
	}
	about(t, cellOf(t, sectionOf(t, in, "wire-times"), "delay-100us", "held, mean"), 100_000, 1)
}

// Each check can fail, and says so.
func TestTruthIsMissed(t *testing.T) {
	for _, c := range []struct {
		level string
		spoil func(*made)
		words []string
	}{
		{"none", func(t *made) { t.Remote.Counts["received_all"]-- }, []string{"6 lost"}},
		{"none", func(t *made) { t.Remote.Counts["duplicates_all"]++ }, []string{"6 doubled"}},
		{"none", func(t *made) { t.Remote.Counts["reordered_all"]++ }, []string{"6 reordered"}},
		{"none", func(t *made) { t.path(map[string]int64{"wire.a_to_b.drop_loss": 1}) }, []string{"6 lost"}},
		{"delay-10us", func(t *made) {
			if t.Local.RTT != nil {
				t.roundTrips(65_000)
			}
		}, []string{"put in 10.0 us", "off by"}},
		{"loss-1/100", func(t *made) { t.Remote.Counts["received_all"]-- }, []string{"off by 6 frames where 0 frames"}},
		{"loss-1/100", func(t *made) { t.path(map[string]int64{"wire.a_to_b.known_frames": 1000}) }, []string{"not every 100th"}},
		{"loss-1/100", func(t *made) { delete(t.Path.Counts, "wire.a_to_b.known_frames") }, []string{"Not known", "did not count"}},
		{"loss-1/100", func(t *made) { t.Local.Counts = nil }, []string{"Not known", "whole trial"}},
		{"duplicate-1/50", func(t *made) { t.Remote.Counts["duplicates_all"]-- }, []string{"off by -6 frames"}},
		{"duplicate-1/50", func(t *made) { delete(t.Remote.Counts, "duplicates_all") }, []string{"Not known", "duplicates_all"}},
		{"reorder-1/50", func(t *made) { t.Remote.Counts["reordered_all"] += 2 }, []string{"off by 12 frames"}},
		{"rate-100Mbit/s", func(t *made) {
			if tcpStream(t.Test) {
				t.stream(90e6)
			}
		}, []string{"put in 94.1 Mbit/s, found 90.0 Mbit/s", "without a rate the path carries 5.0"}},
		{"rate-100Mbit/s", func(t *made) { t.Local.Counters = nil }, []string{"Not known", "not counted"}},
	} {
		t.Run(c.level+" "+c.words[0], func(t *testing.T) {
			m := trueWire()
			right := m.fill
			m.fill = func(x *made, noise float64) {
				if right(x, noise); x.Variant[putIn] == c.level {
					c.spoil(x)
				}
			}
			in := m.input(t)
			Truth(in)
			says(t, in, "6 of 7 found")
			says(t, in, c.words...)
		})
	}
}

// What was dropped on the way or was none of the test's can hide a copy, and the
// check allows for no more than that.
func TestTruthAllowsForDrops(t *testing.T) {
	for hidden, pass := range map[int64]bool{3: true, 4: false} {
		m := trueWire()
		right := m.fill
		m.fill = func(x *made, noise float64) {
			if right(x, noise); x.Variant[putIn] == "duplicate-1/50" && udpStream(x.Test) {
				x.Remote.Counts["duplicates_all"] -= hidden
				x.Remote.Counts["received_all"] -= 3
				x.Remote.Counts["socket_drops_all"] = 3
			}
		}
		in := m.input(t)
		Truth(in)
		if c := checkOf(t, in, "duplicate"); c.Pass != pass {
			t.Errorf("%d hidden by 3 drops: %+v", hidden, c)
		}
	}
}

// Nothing is claimed of what was not run.
func TestTruthOfAPartialRun(t *testing.T) {
	in := trueWire().input(t, func(x *result.Trial) bool { return x.Variant[putIn] == "none" || x.Variant[putIn] == "loss-1/100" })
	Truth(in)
	says(t, in, "3 of 7 found")
	says(t, in, "Not known", "loss 1/100 (no trial of it was made)")
	if c := checkOf(t, in, "delay 10us"); c.Pass || c.Found != nil || c.Text == "" {
		t.Errorf("%+v", c)
	}
}

func TestTruthOfLevelsThatSayNothing(t *testing.T) {
	m := trueWire()
	m.factors[0].Levels = []string{"none", "delay-soon", "loss-often", "loss-1/0", "loss-1%", "rate-fast", "magic-1"}
	in := m.input(t)
	Truth(in)
	for _, c := range in.Report.Checks[1:] {
		if c.Pass != strings.Contains(c.Name, "1%") || c.Text == "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestEveryNth(t *testing.T) {
	for _, c := range []struct {
		put, known, every int64
		want              bool
	}{{10, 1000, 100, true}, {11, 1000, 100, false}, {9, 1000, 100, false}, {10, 1001, 100, true}, {11, 1001, 100, true}, {12, 1001, 100, false}, {0, 99, 100, true}} {
		if got := everyNth(c.put, c.known, c.every); got != c.want {
			t.Errorf("%d of %d, every %d: %v", c.put, c.known, c.every, got)
		}
	}
}

func TestLateness(t *testing.T) {
	var w wireCounts
	if w.late(0.5) != "" {
		t.Error("nothing counted, and it was late")
	}
	w.lateness = [len(lateBuckets)]int64{98, 1, 0, 0, 0, 0, 0, 1}
	for share, want := range map[float64]string{0.5: "up to 1 us", 0.99: "up to 2 us", 0.999: "more than 100 us"} {
		if got := w.late(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}
