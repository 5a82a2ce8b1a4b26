package calibrate

import (
	"fmt"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// fewestSure is the fewest blocks of a window from which noise is known to some
// 20%, one standard error.
const fewestSure = 12

// oftenShare is the share of the trials from which on what they warn of is told.
const oftenShare = 0.1

// ofTrials are the trials' own warnings that are about a trial as a whole: of
// each code one, where it is no rare exception.
func ofTrials(series []Series) []result.Warning {
	first, counts, trials := map[string]result.Warning{}, map[string]int{}, 0
	var order []string
	for _, s := range series {
		for i := range s.Trials {
			trials++
			told := map[string]bool{}
			for _, w := range s.Trials[i].AllWarnings() {
				if w.Metric != "" || told[w.Code] {
					continue
				}
				told[w.Code] = true
				if counts[w.Code] == 0 {
					first[w.Code] = w
					order = append(order, w.Code)
				}
				counts[w.Code]++
			}
		}
	}
	var all []result.Warning
	for _, code := range order {
		n := counts[code]
		if float64(n) < oftenShare*float64(trials) {
			continue
		}
		w := first[code]
		if n < trials {
			w.Text = fmt.Sprintf("in %d of %d trials, as in one: %s", n, trials, w.Text)
		}
		all = append(all, w)
	}
	return all
}

// warn adds the run's warnings and those of the figures.
func (r *Report) warn(more []result.Warning) {
	r.Warnings = append(r.Warnings, more...)
	if r.Partial {
		r.Warnings = append(r.Warnings, result.Warning{Code: "partial", Text: "it ended before its time was up: the figures rest on what was measured until then"})
	}
	for i := range r.Windows {
		w := &r.Windows[i]
		length := time.Duration(w.WindowNS)
		switch {
		case w.Blocks < alarmSizes[0]:
			r.Warnings = append(r.Warnings, result.Warning{Code: "few-blocks", Advice: "calibrate for longer (--total)",
				Text: fmt.Sprintf("windows of %v have %s: not one comparison can be made of them", length, unit.Count(w.Blocks, "complete block"))})
		case w.Blocks < fewestSure:
			r.Warnings = append(r.Warnings, result.Warning{Code: "few-blocks", Advice: "calibrate for longer (--total)",
				Text: fmt.Sprintf("windows of %v have %d blocks: their noise is known roughly only", length, w.Blocks)})
		}
		for _, a := range w.Alarms {
			if a.Paired.LoPct != nil && *a.Paired.LoPct > 100*level {
				r.Warnings = append(r.Warnings, result.Warning{Code: "false-alarms", Advice: "don't trust verdicts on this path before the reason is found",
					Text: fmt.Sprintf("comparisons of %d blocks of %v see a difference in %s where there is none, which is more than the promised %.0f%%",
						a.Blocks, length, interval(a.Paired), 100*level)})
			}
		}
	}
}
