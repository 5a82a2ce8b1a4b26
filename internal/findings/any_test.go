package findings

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Whatever is missing of a run or makes no sense, finders make a report that JSON can
// hold, with a cell for each column; and what they are given they leave as it was.
func TestFindersOfAnyTrials(t *testing.T) {
	conditional := planOf(t, "udp_rr,tcp_stream,tcp_maerts,udp_stream", "wake by=pipe at=other,wake",
		spec.Factor{Name: "rx", Levels: []string{"softirq", "kthread"}}, spec.Factor{Name: "rate", Levels: []string{"slow", "full"}, Condition: true})
	worlds := []world{userModeSwitch(t), labLike(t), driver(t, 3500, ofAWire), {conditional, labLike(t).make}}
	worlds[3].make = func(x *result.Trial, v spec.Variant, wiggle float64) {
		if x.Test.Kind().IsStream() {
			goodput(x, 1e9, wiggle)
			tcp(x, time.Millisecond, time.Millisecond, 1e6, 1e6, 1e6, wiggle)
			return
		}
		rtt(x, 20*time.Microsecond, wiggle)
	}
	whole := make([][]result.Trial, len(worlds))
	for i := range worlds {
		worlds[i].plan.Blocks = spec.MinBlocks
		whole[i] = worlds[i].trials()
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(worlds)-1).Draw(t, "world")
		var trials []result.Trial
		for _, x := range whole[n] {
			switch rapid.IntRange(0, 12).Draw(t, "fate") {
			case 0:
				continue
			case 1:
				x.Local = result.End{Role: result.Local}
			case 2:
				x.Remote = nil
			case 3:
				x.Local.Counters = nil
			case 4:
				if c := x.Local.Counters; c != nil {
					x.Local.Counters = &result.Counters{Readings: []result.Reading{{Source: result.SourceTCPInfo, Levels: map[string]int64{
						"rtt_ns": rapid.Int64().Draw(t, "rtt"), "snd_wnd": rapid.Int64().Draw(t, "window"), "flows": rapid.Int64Range(-3, 9).Draw(t, "flows")}}}}
				}
			case 5:
				x.Path.Counts = nil
			}
			trials = append(trials, x)
		}
		p := worlds[n].plan
		r, err := compare.Build(p, trials, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, find := range []Finder{Window, Wake, Floor} {
			find(&Input{Plan: &p, Trials: trials, Report: &r})
		}
		if _, err := json.Marshal(&r); err != nil {
			t.Error(err)
		}
		for _, s := range r.Sections {
			for _, row := range s.Rows {
				if len(row.Cells) != len(s.Columns) {
					t.Errorf("%s: %q has %d cells of %d", s.Name, row.Label, len(row.Cells), len(s.Columns))
				}
				for _, c := range row.Cells {
					if c.Value == nil && c.Text == "" || (c.Lo == nil) != (c.Hi == nil) || c.Lo != nil && *c.Lo > *c.Hi {
						t.Errorf("%s, %s: %+v", s.Name, row.Label, c)
					}
				}
			}
		}
	})
	for _, find := range []Finder{Window, Wake, Floor} {
		find(nil)
		find(&Input{})
		find(&Input{Plan: &spec.Plan{}, Report: &compare.Report{}})
	}
}
