package compare

import (
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// besideMetrics are the figures of tests beside that a report has.
var besideMetrics = []string{result.RTTP50, result.RTTP99}

// apart are a plan's trials under its variants, and those of its tests beside,
// which have none. The plan is valid.
func apart(plan *spec.Plan, trials []result.Trial) (own, beside []result.Trial) {
	if len(plan.Beside) == 0 {
		return trials, nil
	}
	for _, t := range trials {
		if len(t.Variant) == 0 && slices.Contains(plan.Beside, t.Test) {
			beside = append(beside, t)
		} else {
			own = append(own, t)
		}
	}
	return own, beside
}

// lastOf are the trials of a test without those of which a later attempt counts.
func lastOf(test spec.Test, trials []result.Trial) []*result.Trial {
	var last []*result.Trial
	for i := range trials {
		x := &trials[i]
		if x.Test != test {
			continue
		}
		at := slices.IndexFunc(last, func(o *result.Trial) bool { return o.Block == x.Block })
		switch {
		case at < 0:
			last = append(last, x)
		case last[at].Attempt <= x.Attempt:
			last[at] = x
		}
	}
	return last
}

// besideOf are the figures of the plan's tests beside, in the plan's order, each
// over all trials of its test. A figure that no trial has is null, and a warning
// says why.
func besideOf(plan *spec.Plan, trials []result.Trial) (figures []Beside, warnings []result.Warning) {
	for _, test := range plan.Beside {
		of := lastOf(test, trials)
		if len(of) == 0 {
			continue
		}
		values := map[string][]float64{}
		var said tally
		for _, x := range of {
			for _, m := range x.Metrics() {
				values[m.Name] = append(values[m.Name], m.Value)
			}
			said.add(note(slices.DeleteFunc(x.AllWarnings(), func(w result.Warning) bool {
				return w.Metric != "" && !slices.Contains(besideMetrics, w.Metric)
			})))
		}
		for _, d := range result.Definitions(test) {
			if !slices.Contains(besideMetrics, d.Name) {
				continue
			}
			figures = append(figures, Beside{Test: test.Name, Params: test.Params, Metric: d.Name, Unit: d.Unit,
				Summary: summarize(values[d.Name]), N: len(values[d.Name])})
		}
		for _, g := range said.groups {
			w := g.warning(said.trials)
			w.Text = test.Short() + ", " + w.Text
			warnings = append(warnings, w)
		}
	}
	return figures, warnings
}
