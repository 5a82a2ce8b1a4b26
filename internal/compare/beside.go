package compare

import (
	"fmt"
	"slices"
	"strings"

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
// says why. What is said of several tests is one warning.
func besideOf(plan *spec.Plan, trials []result.Trial) (figures []Beside, warnings []result.Warning) {
	var all []*besideSaid
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
			at := slices.IndexFunc(all, func(s *besideSaid) bool { return s.kind == g.kind })
			if at < 0 {
				all = append(all, &besideSaid{group: *g, trials: said.trials, tests: []string{test.Short()}})
				continue
			}
			all[at].join(g, said.trials, test.Short())
		}
	}
	for _, s := range all {
		warnings = append(warnings, s.told())
	}
	return figures, warnings
}

// besideSaid is a kind of warning with the tests beside of which it was said.
type besideSaid struct {
	group
	trials int // of those tests
	tests  []string
}

// join adds another test of which the same was said.
func (s *besideSaid) join(g *group, trials int, test string) {
	s.varies = s.varies || g.varies || g.first.Text != s.first.Text
	s.count += g.count
	s.trials += trials
	s.tests = append(s.tests, test)
}

// besideNamed is how many tests beside a warning names.
const besideNamed = 3

// told is the one warning: "wake at=same and wake, 3 of 12 trials, such as: ...".
func (s *besideSaid) told() result.Warning {
	w := s.warning(s.trials)
	names := s.tests
	if more := len(names) - besideNamed; more > 0 {
		names = append(slices.Clone(names[:besideNamed]), fmt.Sprintf("%d more", more))
	}
	if last := len(names) - 1; last > 0 {
		names = []string{strings.Join(names[:last], ", ") + " and " + names[last]}
	}
	w.Text = names[0] + ", " + w.Text
	return w
}
