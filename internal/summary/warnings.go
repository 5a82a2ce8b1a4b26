package summary

import (
	"fmt"
	"regexp"
	"slices"

	"netdelta/internal/result"
)

// kind is what makes two warnings one: everything but the numbers in it, and of
// guards the code and what to do about it.
type kind struct{ code, metric, end, shape string }

// numbers are the figures and durations in a warning's text.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(ns|µs|us|ms|s|m|h)?`)

func kindOf(w result.Warning) kind {
	if result.OneKind(w.Code) {
		return kind{code: w.Code, shape: w.Advice}
	}
	return kind{w.Code, w.Metric, w.End, numbers.ReplaceAllString(w.Text, "N")}
}

// tally counts in how many trials each kind of warning stands. The first of a
// kind stands for it.
type tally struct {
	trials int
	order  []kind
	first  map[kind]result.Warning
	count  map[kind]int
}

func count(trials []trial) *tally {
	t := &tally{trials: len(trials), first: map[kind]result.Warning{}, count: map[kind]int{}}
	for _, x := range trials {
		seen := map[kind]bool{}
		for _, w := range x.warnings {
			k := kindOf(w)
			if seen[k] {
				continue
			}
			seen[k] = true
			if t.count[k]++; t.count[k] == 1 {
				t.order = append(t.order, k)
				t.first[k] = w
			}
		}
	}
	return t
}

// warning is the first one of a kind, with the share of the trials that have
// it unless it is all of them.
func (t *tally) warning(k kind) result.Warning {
	w := t.first[k]
	if n := t.count[k]; n < t.trials {
		w.Text += fmt.Sprintf(" (%d of %d trials)", n, t.trials)
	}
	return w
}

// about is the group's warnings about one metric.
func (g *group) about(metric result.Taken) []result.Warning {
	all := []result.Warning{}
	t := count(g.trials)
	for _, k := range t.order {
		if t.first[k].Alone(metric) {
			all = append(all, t.warning(k))
		}
	}
	return all
}

// general is the warnings that are about no one metric: those of every trial
// once, the others with their test.
func general(groups []*group) []result.Warning {
	var everything []trial
	for _, g := range groups {
		for _, x := range g.trials {
			// A trial that could not be had says nothing of what the others
			// have in common.
			if !slices.ContainsFunc(x.warnings, func(w result.Warning) bool { return w.Code == result.Unavailable }) {
				everything = append(everything, x)
			}
		}
	}
	whole := count(everything)
	var all []result.Warning
	for _, k := range whole.order {
		if k.metric == "" && whole.count[k] == whole.trials {
			all = append(all, whole.first[k])
		}
	}
	for _, g := range groups {
		t := count(g.trials)
		name := g.test.Short()
		if g.under != "" {
			name += " (" + g.under + ")"
		}
		for _, k := range t.order {
			if k.metric != "" || whole.count[k] == whole.trials {
				continue
			}
			w := t.warning(k)
			w.Text = name + ": " + w.Text
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}
