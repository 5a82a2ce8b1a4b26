package result

import (
	"math"
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

// soakedEnd is an end on one CPU for a second: by accounting it was busy for so
// long, by an idle-priority loop for so long, whose thread's clock says that it
// lacked so much.
func soakedEnd(role string, accounted, soak, lacked time.Duration) End {
	const second = int64(time.Second)
	return End{Role: role, Counters: &Counters{CPUs: []int{2}, Readings: []Reading{
		{Source: SourceCPU, Elapsed: time.Second, Counts: map[string]int64{
			"cpu2.user": int64(accounted) / 4, "cpu2.system": int64(accounted) / 4, "cpu2.irq": int64(accounted) / 4,
			"cpu2.softirq": int64(accounted) / 4, "cpu2.nice": second - int64(accounted), "cpu1.user": second,
		}, Levels: map[string]int64{"resolution_ns": 10_000_000}},
		{Source: SourceSoak, Elapsed: time.Second, Counts: map[string]int64{
			"cpu2.idle": second - int64(soak), "cpu2.loop_ns": second - int64(lacked), "cpu1.idle": second,
		}, Levels: map[string]int64{
			"cpu2.calibration_rate": 2_400_000, "calibration_rate": 2_400_000, "calibration_spread_ppm": 3000, "calibration_got_ppm": 999_000,
		}},
	}}}
}

func TestAccountedAndSoakBusy(t *testing.T) {
	e := soakedEnd(Local, 500*time.Millisecond, 600*time.Millisecond, 450*time.Millisecond)
	busy, sigma, ok := accountedBusy(e.Counters)
	// Half of a second's ticks of 10 ms: sqrt(0.5 * 0.5 * 0.01) and a little for
	// the rounding of four kinds.
	if !ok || math.Abs(busy-0.5) > 1e-9 || sigma < 0.05 || sigma > 0.051 {
		t.Errorf("accounted %v, within %v, %v", busy, sigma, ok)
	}
	busy, held, ok := soakBusy(e.Counters)
	if !ok || math.Abs(busy-0.6) > 1e-9 || math.Abs(held-0.15) > 1e-9 {
		t.Errorf("soaked %v, held %v, %v", busy, held, ok)
	}
	for name, c := range map[string]*Counters{
		"nothing counted": nil, "no CPU named": {Readings: e.Counters.Readings}, "no time": {CPUs: []int{2}, Readings: []Reading{{Source: SourceCPU}, {Source: SourceSoak}}},
		"another CPU": {CPUs: []int{2, 5}, Readings: e.Counters.Readings[1:]},
	} {
		if _, _, ok := soakBusy(c); ok {
			t.Errorf("%s: there is a figure of loops", name)
		}
		if _, _, ok := accountedBusy(c); ok {
			t.Errorf("%s: there is a figure of the accounting", name)
		}
	}
}

func TestSoakWarnings(t *testing.T) {
	const ms = time.Millisecond
	steal := func(e *End) { e.Counters.Readings[0].Counts["cpu2.steal"] = int64(250 * ms) }
	level := func(name string, ppm int64) func(*End) {
		return func(e *End) { e.Counters.Readings[1].Levels[name] = ppm }
	}
	short := func(e *End) {
		for i := range e.Counters.Readings {
			r := &e.Counters.Readings[i]
			r.Elapsed /= 16
			for name := range r.Counts {
				r.Counts[name] /= 16
			}
		}
	}
	for name, c := range map[string]struct {
		accounted, soak, lacked time.Duration
		change                  func(*End)
		want, text              string
	}{
		"agree":             {accounted: 500 * ms, soak: 510 * ms, lacked: 500 * ms},
		"within the margin": {accounted: 500 * ms, soak: 650 * ms, lacked: 640 * ms},
		"beyond it":         {accounted: 500 * ms, soak: 680 * ms, lacked: 670 * ms, want: soakDisagrees, text: "when the kernel's tick asked"},
		"interrupts":        {accounted: 300 * ms, soak: 600 * ms, lacked: 310 * ms, want: soakDisagrees, text: "0.29 of it passed while a loop had its CPU"},
		"stolen":            {accounted: 300 * ms, soak: 600 * ms, lacked: 590 * ms, change: steal, want: soakDisagrees, text: "the hypervisor took 0.25"},
		"faster":            {accounted: 600 * ms, soak: 300 * ms, lacked: 500 * ms, want: soakDisagrees, text: "a loop still worked for 0.20"},
		"ticks":             {accounted: 600 * ms, soak: 300 * ms, lacked: 310 * ms, want: soakDisagrees, text: "more often"},
		// In 62 ms there are hardly more than six ticks.
		"short":    {accounted: 500 * ms, soak: 680 * ms, lacked: 670 * ms, change: short},
		"spread":   {accounted: 500 * ms, soak: 510 * ms, lacked: 500 * ms, change: level("calibration_spread_ppm", 20_001), want: soakUncalibrated, text: "spread by 2.0%"},
		"shared":   {accounted: 500 * ms, soak: 510 * ms, lacked: 500 * ms, change: level("calibration_got_ppm", 500_000), want: soakUncalibrated, text: "for 50% of the time"},
		"grouped":  {accounted: 500 * ms, soak: 510 * ms, lacked: 500 * ms, change: level("grouped", 1), want: soakGrouped, text: "own session"},
		"not told": {accounted: 100 * ms, soak: 900 * ms, lacked: 510 * ms, change: func(e *End) { e.Counters.Readings = e.Counters.Readings[1:] }},
		"no loops": {accounted: 100 * ms, soak: 900 * ms, lacked: 510 * ms, change: func(e *End) { e.Counters.Readings = e.Counters.Readings[:1] }},
	} {
		e := soakedEnd(Remote, c.accounted, c.soak, c.lacked)
		if c.change != nil {
			c.change(&e)
		}
		trial := Trial{Test: spec.Test{Name: "udp_rr"}, Local: soakedEnd(Local, 500*ms, 500*ms, 500*ms), Remote: &e}
		got := trial.soakWarnings()
		switch {
		case c.want == "":
			if len(got) != 0 {
				t.Errorf("%s: %+v", name, got)
			}
		case len(got) != 1 || got[0].Code != c.want || got[0].End != Remote || got[0].Metric != CPUSoak || !strings.Contains(got[0].Text, c.text) || got[0].Advice == "":
			t.Errorf("%s: %+v, want one %s with %q", name, got, c.want, c.text)
		}
	}
	if got := (&Trial{}).soakWarnings(); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
