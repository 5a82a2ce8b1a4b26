package findings

import (
	"fmt"
	"math"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// card mitigates: CPU time falls with the frames for each handler run, and lone round
// trips wait.
func card(saves func(frames int) float64) madeUp {
	return madeUp{factors: []spec.Factor{{Name: mitigation, Levels: []string{"off", "1/0us", "4/20us", "16/50us", "64/200us"}}},
		tests: "udp_rr,udp_stream rate=100Mbit/s,tcp_stream", blocks: 8,
		fill: func(t *made, noise float64) {
			count, wait, ok := mitigated(t.Variant[mitigation])
			if !ok {
				count = 1
			}
			if count == 1 {
				wait = 0
			}
			switch {
			case udpRR(t.Test):
				t.roundTrips(30_000*(1+noise) + 2*float64(wait))
			default:
				t.stream(1e8)
				t.path(map[string]int64{"wire.a_to_b.frames_in": 0, "wire.a_to_b.wakeups": 10_000 / int64(count)})
				busy(t.Remote, 0.4*saves(count)*(1+noise), true)
				busy(&t.Local, 0.1*saves(count)*(1+noise), true)
			}
		}}
}

func TestKneeIsNamed(t *testing.T) {
	in := card(func(count int) float64 { return 0.4 + 0.6/float64(count) }).input(t)
	Knee(in)
	// The chord goes to 64 frames: 16 of them save 95% of what those save for a quarter
	// of their wait, and 4 of them 76% for a tenth of it.
	says(t, in, "The knee is at 16/50us", "p50 30.0 us to 130 us", "CPU per byte (soak) -56%")
	s := sectionOf(t, in, "mitigation")
	about(t, cellOf(t, s, "64/200us", "rtt p50"), 430_000, 2000)
	about(t, cellOf(t, sectionOf(t, in, "mitigation-change"), "4/20us", "CPU soak"), -45, 1)
	for _, level := range []string{"1/0us", "4/20us", "16/50us", "64/200us"} {
		if c := checkOf(t, in, level); !c.Pass {
			t.Errorf("%+v", c)
		}
	}
}

func TestNoKnee(t *testing.T) {
	for words, saves := range map[string]func(int) float64{
		"is less than off's for sure":        func(int) float64 { return 1 },
		"falls no faster than latency rises": func(n int) float64 { return 1 - 0.5*math.Pow(float64(n)/64, 2) },
		"CPU time was not measured.":         nil,
	} {
		m := card(func(int) float64 { return 1 })
		if saves != nil {
			m = card(saves)
		} else {
			right := m.fill
			m.fill = func(x *made, noise float64) { right(x, noise); x.Local.Counters, x.Remote.Counters = nil, nil }
		}
		in := m.input(t)
		Knee(in)
		says(t, in, "No knee", words)
	}
}

// A wire that does not wait as it was told is found out.
func TestWaitsAreChecked(t *testing.T) {
	m := card(func(int) float64 { return 1 })
	right := m.fill
	m.fill = func(x *made, noise float64) {
		if right(x, noise); udpRR(x.Test) && x.Variant[mitigation] == "16/50us" {
			x.roundTrips(80_000) // on one way only
		}
	}
	in := m.input(t)
	Knee(in)
	if c := checkOf(t, in, "16/50us"); c.Pass || c.Wanted != 100_000 || *c.Found > 51_000 {
		t.Errorf("%+v", c)
	}
}

func TestFarthest(t *testing.T) {
	for _, c := range []struct {
		points []point
		want   string
	}{
		{[]point{{"off", 10, 100, false, 0}, {"a", 12, 60, true, 0}, {"b", 30, 40, true, 0}}, "a"},
		{[]point{{"off", 10, 100, false, 0}, {"a", 12, 60, false, 0}, {"b", 30, 40, true, 0}}, ""},
		{[]point{{"off", 10, 100, false, 0}, {"a", 10, 60, true, 0}}, "a"},
		{[]point{{"off", 10, 100, false, 0}}, ""},
	} {
		got := farthest(c.points)
		if name := fmt.Sprint(got != nil && got.level == c.want); name != "true" && (got != nil || c.want != "") {
			t.Errorf("%+v: %+v, want %q", c.points, got, c.want)
		}
	}
}

// Of a run that ended early nothing is sure, and nothing is named.
func TestKneeOfAPartialRun(t *testing.T) {
	in := card(func(count int) float64 { return 1 / float64(count) }).input(t, func(x *result.Trial) bool { return x.Block > 2 })
	Knee(in)
	says(t, in, "No knee", "for sure")
}
