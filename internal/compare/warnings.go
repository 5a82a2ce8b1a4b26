package compare

import (
	"fmt"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// tally counts in how many trials each warning stands. Warnings of one code
// about one metric are one, even if their texts give different numbers.
type tally struct {
	trials int
	groups []*group
}

type group struct {
	first  result.Warning
	count  int
	varies bool // later texts differ from the first
}

// add takes one trial's warnings, which may name a code more than once.
func (t *tally) add(warnings []result.Warning) {
	t.trials++
	var seen []*group
	for _, w := range warnings {
		g := t.find(w)
		g.varies = g.varies || w.Text != g.first.Text
		if !slices.Contains(seen, g) {
			seen = append(seen, g)
			g.count++
		}
	}
}

func (t *tally) find(w result.Warning) *group {
	for _, g := range t.groups {
		if g.first.Code == w.Code && g.first.Metric == w.Metric {
			return g
		}
	}
	g := &group{first: w}
	t.groups = append(t.groups, g)
	return g
}

// warning is the group as one warning that tells how often it stood.
func (g *group) warning(trials int) result.Warning {
	w := g.first
	often := fmt.Sprintf("%d of %d trials", g.count, trials)
	if g.count == trials {
		often = fmt.Sprintf("all %d trials", trials)
	}
	if trials == 1 {
		often = "the one trial"
	}
	if g.varies {
		often += ", such as"
	}
	w.Text = often + ": " + w.Text
	return w
}

// warningsOf merges what trials of one test say against one metric.
func (g *grid) warningsOf(test int, variants []int, metric string) []result.Warning {
	var t tally
	g.each(test, variants, func(c *cell) {
		var about []result.Warning
		for _, w := range c.warnings {
			if w.Metric == "" || w.Metric == metric {
				about = append(about, w)
			}
		}
		t.add(about)
	})
	all := []result.Warning{}
	for _, group := range t.groups {
		all = append(all, group.warning(t.trials))
	}
	return all
}

// warnEverywhere returns what every trial of the report says.
func (g *grid) warnEverywhere() []result.Warning {
	var t tally
	variants := make([]int, len(g.variants))
	for i := range variants {
		variants[i] = i
	}
	for test := range g.cells {
		g.each(test, variants, func(c *cell) { t.add(c.warnings) })
	}
	var all []result.Warning
	for _, group := range t.groups {
		if group.count == t.trials {
			all = append(all, group.warning(t.trials))
		}
	}
	return all
}

// warn says what is to be said of the report as a whole, each thing once:
// what the caller knows, what is missing, what stands in every trial.
func (r *Report) warn(known, everywhere []result.Warning) {
	r.Warnings = []result.Warning{}
	add := func(w result.Warning) {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
	for _, w := range known {
		add(w)
	}
	if r.Partial {
		add(result.Warning{Code: "partial",
			Text: fmt.Sprintf("the run is not whole: %d of %d blocks are complete", r.Blocks, r.Planned)})
	}
	if r.Blocks < spec.MinBlocks {
		add(result.Warning{Code: "few-blocks",
			Text:   fmt.Sprintf("%d complete blocks are too few for a verdict, which needs %d", r.Blocks, spec.MinBlocks),
			Advice: fmt.Sprintf("run with --blocks %d or more", spec.MinBlocks)})
	}
	for _, w := range everywhere {
		add(w)
	}
}
