package compare

import (
	"fmt"
	"regexp"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// kind is what makes two warnings one: the code, the metric, and the text but
// for its numbers; of guards the code and what to do about it.
type kind struct{ code, metric, end, shape string }

// figures are the numbers and durations in a warning's text.
var figures = regexp.MustCompile(`(?:[0-9]+(?:\.[0-9]+)?(?:ns|µs|us|ms|s|m|h)?)+`)

func kindOf(w result.Warning) kind {
	if result.OneKind(w.Code) {
		return kind{code: w.Code, shape: w.Advice}
	}
	return kind{w.Code, w.Metric, w.End, figures.ReplaceAllString(w.Text, "N")}
}

// noted is a warning with its kind.
type noted struct {
	result.Warning
	kind kind
}

func note(warnings []result.Warning) []noted {
	all := make([]noted, len(warnings))
	for i, w := range warnings {
		all[i] = noted{w, kindOf(w)}
	}
	return all
}

// tally counts in how many trials each kind of warning stands.
type tally struct {
	trials int
	groups []*group
}

type group struct {
	kind   kind
	first  result.Warning
	count  int
	varies bool // later texts differ from the first
}

// add takes one trial's warnings, which may name a kind more than once.
func (t *tally) add(warnings []noted) {
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

// count is in how many trials the kind stands.
func (t *tally) count(k kind) int {
	for _, g := range t.groups {
		if g.kind == k {
			return g.count
		}
	}
	return 0
}

func (t *tally) find(w noted) *group {
	for _, g := range t.groups {
		if g.kind == w.kind {
			return g
		}
	}
	g := &group{kind: w.kind, first: w.Warning}
	t.groups = append(t.groups, g)
	return g
}

// warning is the group as one warning that tells how often it stood.
func (g *group) warning(trials int) result.Warning {
	often := fmt.Sprintf("%d of %d trials", g.count, trials)
	if g.count == trials {
		often = "all " + unit.Count(trials, "trial")
	}
	if trials == 1 {
		often = "the one trial"
	}
	return g.told(often)
}

func (g *group) told(often string) result.Warning {
	w := g.first
	if g.varies {
		often += ", such as"
	}
	w.Text = often + ": " + w.Text
	return w
}

// warn adds warnings about the report as a whole, each once.
func (r *Report) warn(warnings ...result.Warning) {
	if r.Warnings == nil {
		r.Warnings = []result.Warning{}
	}
	for _, w := range warnings {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

// warnOfBlocks says what the plan's blocks don't bear.
func (r *Report) warnOfBlocks() {
	if r.Partial {
		r.warn(result.Warning{Code: "partial",
			Text: fmt.Sprintf("the run is not whole: %d of %s complete", r.Blocks, unit.Count(r.Planned, "block"))})
	}
	if fewest := r.Fewest(); r.Blocks < fewest {
		r.warn(result.Warning{Code: "few-blocks",
			Text:   fmt.Sprintf("a verdict needs %d complete blocks, and this run has %d", fewest, r.Blocks),
			Advice: fmt.Sprintf("run with --blocks %d or more", fewest)})
	}
}
