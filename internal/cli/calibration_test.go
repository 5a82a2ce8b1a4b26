package cli

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"netdelta/internal/counters"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// Rounds give each window about the same time, and keep the trials of parts
// apart: no block is two, and only trials that followed one another have orders
// that do.
func TestCalibrationRounds(t *testing.T) {
	f := calibrateFlags{tests: "udp_rr", total: time.Second, windows: "800ms,50ms", margin: "2%", format: "json", counting: countingFlags{counters: counters.Default}}
	a, err := f.check()
	if err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{50 * time.Millisecond, 800 * time.Millisecond}; !slices.Equal(a.windows, want) {
		t.Fatalf("windows %v, want %v", a.windows, want)
	}
	if got := blocksOf(a.windows); !slices.Equal(got, []int{6, 1}) {
		t.Errorf("blocks %v, want 6 of 162ms for one of 1s", got)
	}
	var seeds []uint64
	c := &calibration{asked: a, total: f.total, seed: 5, show: func(run.Progress) {}}
	stop := errors.New("stop")
	parts := 0
	err = c.rounds(t.Context(), func(_ context.Context, p spec.Plan, show func(run.Progress)) (all []result.Trial, err error) {
		parts++
		seeds = append(seeds, p.Seed)
		for _, slot := range p.Schedule() {
			if parts == 4 && slot.Block == p.Blocks-1 {
				return all, stop
			}
			all = append(all, result.Trial{Block: slot.Block, Order: len(all), Variant: slot.Variant, Test: slot.Tests[0], Window: p.Window})
			show(run.Progress{Done: len(all), Test: "udp_rr"})
		}
		return all, nil
	})
	if !errors.Is(err, stop) || parts != 4 {
		t.Fatalf("%v after %d parts", err, parts)
	}
	slices.Sort(seeds)
	if len(slices.Compact(seeds)) != 4 {
		t.Errorf("two parts have one order: %v", seeds)
	}
	orders := map[int]bool{}
	for _, s := range c.of {
		type place struct {
			block int
			level string
		}
		seen := map[place]bool{}
		for _, tr := range s.Trials {
			at := place{tr.Block, tr.Variant["again"]}
			if seen[at] || orders[tr.Order] || tr.Block >= s.Plan.Blocks || tr.Window != s.Plan.Window {
				t.Errorf("a trial is out of place: %+v of %d blocks", tr, s.Plan.Blocks)
			}
			seen[at], orders[tr.Order] = true, true
		}
	}
	// Three whole parts and a fourth that lacks its last block.
	if want := len(c.all()); c.done != want || len(orders) != want || want < 14 {
		t.Errorf("%d trials, %d told, %d orders", want, c.done, len(orders))
	}
	if gaps := c.order - len(orders); gaps != parts {
		t.Errorf("%d gaps between orders, want one behind each of %d parts", gaps, parts)
	}
}

func TestCalibrateFlags(t *testing.T) {
	good := calibrateFlags{tests: "udp_rr", total: time.Minute, windows: "50ms", margin: "2%", format: "text", counting: countingFlags{counters: counters.Default}}
	for name, change := range map[string]func(*calibrateFlags){
		"format": func(f *calibrateFlags) { f.format = "pdf" }, "no window": func(f *calibrateFlags) { f.windows = "" },
		"twice": func(f *calibrateFlags) { f.windows = "50ms, 0.05s" }, "short": func(f *calibrateFlags) { f.windows = "1ms" },
		"many": func(f *calibrateFlags) { f.windows = "50ms,51ms,52ms,53ms,54ms,55ms,56ms,57ms,58ms" }, "no word": func(f *calibrateFlags) { f.windows = "soon" },
		"total": func(f *calibrateFlags) { f.total = 0 }, "margin": func(f *calibrateFlags) { f.margin = "0" },
		"tests": func(f *calibrateFlags) { f.tests = "x" }, "sizes": func(f *calibrateFlags) { f.sizes = "x" }, "wait": func(f *calibrateFlags) { f.wait = -1 },
	} {
		f := good
		change(&f)
		if _, err := f.check(); err == nil {
			t.Errorf("%s: %+v is taken", name, f)
		}
	}
	if _, err := good.check(); err != nil {
		t.Error(err)
	}
}
