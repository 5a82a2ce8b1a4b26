package text

import (
	"fmt"
	"slices"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/unit"
)

// maxSources is how many runs of one side are told one by one.
const maxSources = 6

// sources tells which separate runs the figures come from.
func sources(r *compare.Report) []Item {
	title := r.Experiment + ": separate runs, unpaired"
	if r.Pairing == compare.ByBoot {
		title = fmt.Sprintf("%s: separate runs, of %d and %s", r.Experiment, r.BootsA, unit.Count(r.BootsB, "boot"))
	}
	all := items(title)
	names := map[string]string{}
	for _, f := range r.Factors {
		if len(f.Levels) == 2 {
			names["a"], names["b"] = f.Levels[0], f.Levels[1]
		}
	}
	for _, side := range []string{"a", "b"} {
		of := slices.DeleteFunc(slices.Clone(r.Sources), func(s compare.Source) bool { return s.Side != side })
		more := len(of) - maxSources
		if more > 0 {
			of = of[:maxSources]
		}
		for _, s := range of {
			text := names[side] + ":"
			if s.ID != names[side] {
				text += " run " + s.ID
			}
			text += fmt.Sprintf(" %s, %s", s.Start.UTC().Format("2006-01-02 15:04:05 UTC"), unit.Count(s.Trials, "trial"))
			if s.Label != "" && s.Label != names[side] {
				text += ", label " + s.Label
			}
			all = append(all, hanging(text))
		}
		if more > 0 {
			all = append(all, hanging(fmt.Sprintf("%s: and %s more", names[side], unit.Count(more, "run"))))
		}
	}
	text := fmt.Sprintf("%s in common, with %s", unit.Count(countTests(r), "test"), unit.Count(r.Trials, "trial"))
	if r.WindowNS > 0 {
		text += fmt.Sprintf(", each %v long after %v of warm-up", time.Duration(r.WindowNS), time.Duration(r.WarmupNS))
	}
	return append(all, flush(text+"."))
}

// spreads is the rows of which the runs of a side differ more than the trials
// within a run.
func spreads(r *compare.Report) block {
	t := table{
		head:  []string{"", "unit", "runs", "trials", "runs", "trials"},
		right: []bool{false, false, true, true, true, true},
	}
	names := [2]string{}
	wide := slices.DeleteFunc(slices.Clone(r.Comparisons), func(c compare.Comparison) bool { return !c.Spread.Wide() })
	eachShown(wide, func(test string) { t.add(test) }, func(c *compare.Comparison) {
		names = [2]string{c.Baseline, c.Variant}
		s := c.Spread
		div, in := 1.0, "%"
		if c.Scale != compare.Percent {
			div, in = unit.Scale(c.Unit, value(s.BetweenA), value(s.BetweenB))
		}
		cell := func(p *float64) string { return unit.FormatIn(value(p), div) }
		t.add("  "+label(c, wide), in, cell(s.BetweenA), cell(s.WithinA), cell(s.BetweenB), cell(s.WithinB))
	})
	title := fmt.Sprintf("Spread (standard deviation) between runs and between the trials of a run, in %s and in %s", names[0], names[1])
	return block{title, t}
}
