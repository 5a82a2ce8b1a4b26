package text

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/calibrate"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

func calibrationPage(t interface{ Fatal(...any) }, r *calibrate.Report) string {
	var b strings.Builder
	if err := RenderCalibration(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func f64(v float64) *float64 { return &v }
func i64(v int64) *int64     { return &v }

func madeUpCalibration() calibrate.Report {
	floor := func(test, metric string, u unit.Unit, median, noise float64) calibrate.Floor {
		fl := calibrate.Floor{Test: test, Metric: metric, End: result.Local, Unit: u, Median: f64(median), N: 60, NoisePct: f64(noise),
			SwingPct: f64(3 * noise), Autocorrelation: f64(0.31), Drifts: true, HalfWidthPct: f64(noise / 4)}
		for i, n := range []int{6, 12, 24, 48, 96} {
			fl.Detectable = append(fl.Detectable, calibrate.Detectable{Blocks: n, EffectPct: f64(5 * noise / float64(i+1)), TimeNS: i64(int64(n) * 7e8)})
		}
		return fl
	}
	share := func(k, n int) calibrate.Share {
		return calibrate.Share{Count: k, Of: n, Pct: f64(100 * float64(k) / float64(n)), LoPct: f64(0), HiPct: f64(50)}
	}
	none := floor("tcp_stream", result.Goodput, unit.BitsPerSecond, 1e10, 1)
	none.N, none.NoisePct, none.SwingPct, none.Autocorrelation, none.HalfWidthPct, none.Detectable = 1, nil, nil, nil, nil, nil
	return calibrate.Report{
		Schema: calibrate.Schema, Target: "bench2", Seed: 7, TookNS: 119e9, Trials: 248, MarginPct: 2,
		Answer: []string{"This path sees 3.1% in rtt_p50 of udp_rr with 24 blocks of 200ms (23 s); for 2% it takes 48 (46 s).",
			"The path drifted meanwhile."},
		Windows: []calibrate.Window{
			{WindowNS: 50e6, WarmupNS: 12e6, Blocks: 60, Trials: 240, Rows: 12, BlockNS: i64(7e8), OverheadNS: i64(125e6),
				Alarms: []calibrate.Alarms{
					{Blocks: 6, SpanNS: 12e9, Paired: share(0, 10), Redrawn: share(18, 400), InTurn: share(7, 10), InTurnHead: share(4, 10), InTurnRows: share(40, 120)},
					{Blocks: 20, SpanNS: 400e9, Paired: share(1, 3), Redrawn: share(5, 100), InTurn: share(3, 3), InTurnHead: share(3, 3), InTurnRows: share(30, 36)}},
				Floors: []calibrate.Floor{floor("udp_rr", result.RTTP50, unit.Nanoseconds, 21000, 3.3), floor("tcp_stream", result.Goodput, unit.BitsPerSecond, 1.01e10, 400)}},
			{WindowNS: 800e6, WarmupNS: 100e6, Blocks: 2, Trials: 8, Rows: 12, Alarms: []calibrate.Alarms{}, Floors: []calibrate.Floor{none}},
		},
		Warnings:    []result.Warning{{Code: "few-blocks", Text: "windows of 800ms have 2 complete blocks", Advice: "calibrate for longer (--total)"}},
		Environment: []result.Fact{{Name: "kernel", Value: "6.18"}},
		Command:     "netdelta calibrate bench2 --secret-file secret --seed 7", Version: "0.3.0",
	}
}

func TestCalibrationGolden(t *testing.T) {
	r := madeUpCalibration()
	page := calibrationPage(t, &r)
	checkPage(t, page)
	path := filepath.Join("testdata", "calibration.golden")
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), page); d != "" {
		t.Errorf("(-golden +got; if it should differ, run with -update):\n%s", d)
	}
}

// Whatever is in it, the page is fit for mail.
func TestAnyCalibrationPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := madeUpCalibration()
		num := rapid.Custom(func(t *rapid.T) *float64 {
			if rapid.Bool().Draw(t, "null") {
				return nil
			}
			return f64(rapid.Float64().Draw(t, "number"))
		})
		length := rapid.Custom(func(t *rapid.T) *int64 {
			if rapid.Bool().Draw(t, "null") {
				return nil
			}
			return i64(rapid.Int64Min(0).Draw(t, "ns"))
		})
		r.Target, r.Answer = rapid.String().Draw(t, "target"), rapid.SliceOfN(rapid.StringMatching(`[a-z].{0,200}`), 0, 4).Draw(t, "answer")
		r.Windows = r.Windows[:rapid.IntRange(0, 2).Draw(t, "windows")]
		for i := range r.Windows {
			w := &r.Windows[i]
			w.WindowNS, w.BlockNS, w.OverheadNS = rapid.Int64Min(1).Draw(t, "window"), length.Draw(t, "block"), length.Draw(t, "overhead")
			for j := range w.Floors {
				fl := &w.Floors[j]
				fl.Test, fl.Median, fl.NoisePct, fl.SwingPct, fl.Autocorrelation = rapid.String().Draw(t, "test"), num.Draw(t, "median"), num.Draw(t, "noise"), num.Draw(t, "swing"), num.Draw(t, "next")
				for k := range fl.Detectable {
					fl.Detectable[k].EffectPct, fl.Detectable[k].TimeNS = num.Draw(t, "effect"), length.Draw(t, "time")
				}
			}
			for j := range w.Alarms {
				w.Alarms[j].SpanNS, w.Alarms[j].Redrawn.Pct = rapid.Int64().Draw(t, "span"), num.Draw(t, "share")
			}
		}
		checkPage(t, calibrationPage(t, &r))
	})
}
