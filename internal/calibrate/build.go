package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"netdelta/internal/result"
)

// Options are what a report tells beside the figures.
type Options struct {
	Target  string
	Seed    uint64
	Margin  float64 // the smallest relative change that matters: 0.02 is 2%
	Partial bool
	// Warnings are about the run as a whole.
	Warnings    []result.Warning
	Environment []result.Fact
	Command     string
	Version     string
}

// Build works out what the series bear. Each series has its own length of
// window; blocks and orders of trials are the series' own, and orders follow one
// another only where the trials did. It fails without any series, on a plan that
// does not have one factor of two levels, and where two series have one window.
func Build(series []Series, o Options) (Report, error) {
	if len(series) == 0 {
		return Report{}, errors.New("calibrate: no series of trials")
	}
	r := Report{Schema: Schema, Target: o.Target, Seed: o.Seed, Partial: o.Partial, MarginPct: math.Round(o.Margin*1e11) / 1e9,
		Answer: []string{}, Windows: []Window{}, Best: []Best{}, Warnings: []result.Warning{},
		Environment: o.Environment, Command: o.Command, Version: o.Version}
	series = slices.SortedFunc(slices.Values(series), func(a, b Series) int { return cmp.Compare(a.Plan.Window, b.Plan.Window) })
	all := make([]*figures, len(series))
	total := 0.0 // of all blocks, in ns
	var end time.Time
	for i, s := range series {
		p := s.Plan
		if len(p.Factors) != 1 || len(p.Factors[0].Levels) != 2 {
			return Report{}, errOneFactor
		}
		if i > 0 && series[i-1].Plan.Window == p.Window {
			return Report{}, fmt.Errorf("calibrate: two series have windows of %v", p.Window)
		}
		for _, t := range s.Trials {
			if r.Start.IsZero() || t.Start.Before(r.Start) {
				r.Start = t.Start
			}
			if e := t.Start.Add(p.Warmup + p.Window); e.After(end) {
				end = e
			}
		}
		f := figuresOf(s)
		all[i] = f
		w := Window{WindowNS: int64(p.Window), WarmupNS: int64(p.Warmup), Blocks: len(f.starts), Trials: len(s.Trials), Rows: len(f.rows), Alarms: []Alarms{}}
		w.BlockNS, w.OverheadNS = f.pace(s.Trials)
		if w.BlockNS != nil {
			total += float64(w.Blocks) * float64(*w.BlockNS)
		}
		for _, n := range alarmSizes {
			if a, ok := f.alarms(n, o.Seed); ok {
				w.Alarms = append(w.Alarms, a)
			}
		}
		r.Trials += w.Trials
		r.Windows = append(r.Windows, w)
	}
	if !end.IsZero() {
		r.TookNS = int64(end.Sub(r.Start))
	}
	each := total / float64(len(series))
	for i := range r.Windows {
		w := &r.Windows[i]
		w.Floors = all[i].floors(w.BlockNS, w.Rows, each)
	}
	r.Best = append(r.Best, bests(r.Windows, int64(each))...)
	r.warn(o.Warnings)
	r.Warnings = append(r.Warnings, ofTrials(series)...)
	r.Answer = append(r.Answer, r.sentences()...)
	return r, nil
}
