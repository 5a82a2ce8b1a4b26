package compare

import (
	"fmt"
	"regexp"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// kind is what makes two warnings one: the code, the metric, and the text but
// for its numbers.
type kind struct{ code, metric, shape string }

// figures are the numbers and durations in a warning's text.
var figures = regexp.MustCompile(`(?:[0-9]+(?:\.[0-9]+)?(?:ns|µs|us|ms|s|m|h)?)+`)

func kindOf(w result.Warning) kind {
	return kind{w.Code, w.Metric, figures.ReplaceAllString(w.Text, "N")}
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
		often = "all " + count(trials, "trial")
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

// reported is a trial that a report rests on.
type reported struct {
	test spec.Test
	side string // of separate runs; empty for a plan's trials
	*cell
}

// common are the warnings that are told once for the whole report, and not
// again beside each row.
type common struct {
	kinds    map[kind]bool
	warnings []result.Warning
}

// commonTo picks out what every trial says against all of its figures; or all
// trials that could say it, which are those of the tests with a worker at the
// remote end; or all of one side.
func commonTo(trials []reported) common {
	c := common{kinds: map[kind]bool{}}
	var sides []string
	for _, x := range trials {
		if x.side != "" && !slices.Contains(sides, x.side) {
			sides = append(sides, x.side)
		}
	}
	twoEnds := func(x reported) bool { return x.test.Kind().Pattern != spec.Echo }
	c.pick(trials, "", func(reported) bool { return true })
	c.pick(trials, " with a remote end", twoEnds)
	for _, side := range sides {
		c.pick(trials, " of "+side, func(x reported) bool { return x.side == side })
		c.pick(trials, " of "+side+" with a remote end", func(x reported) bool { return x.side == side && twoEnds(x) })
	}
	return c
}

// pick adds what all trials of a class say, if that is not known yet. A single
// trial is no class: what it says belongs to its rows.
func (c *common) pick(trials []reported, class string, in func(reported) bool) {
	var inside, outside tally
	for _, x := range trials {
		about := slices.DeleteFunc(slices.Clone(x.warnings), func(w noted) bool { return w.Metric != "" })
		if in(x) {
			inside.add(about)
		} else {
			outside.add(about)
		}
	}
	for _, g := range inside.groups {
		if g.count < inside.trials || inside.trials < 2 || c.kinds[g.kind] {
			continue
		}
		often := fmt.Sprintf("all %d trials%s", g.count, class)
		for _, o := range outside.groups {
			if o.kind == g.kind {
				g.varies = g.varies || o.varies || o.first.Text != g.first.Text
				often += fmt.Sprintf(" and %d more", o.count)
			}
		}
		c.kinds[g.kind] = true
		c.warnings = append(c.warnings, g.told(often))
	}
}

// warningsAbout merges what trials say against one metric, less what they all
// say.
func (c *common) warningsAbout(metric string, trials []*cell) []result.Warning {
	var t tally
	for _, x := range trials {
		var about []noted
		for _, w := range x.warnings {
			if (w.Metric == "" || w.Metric == metric) && !c.kinds[w.kind] {
				about = append(about, w)
			}
		}
		t.add(about)
	}
	all := []result.Warning{}
	for _, group := range t.groups {
		all = append(all, group.warning(t.trials))
	}
	return all
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
			Text: fmt.Sprintf("the run is not whole: %d of %d blocks are complete", r.Blocks, r.Planned)})
	}
	if r.Blocks < spec.MinBlocks {
		r.warn(result.Warning{Code: "few-blocks",
			Text:   fmt.Sprintf("%d complete blocks are too few for a verdict, which needs %d", r.Blocks, spec.MinBlocks),
			Advice: fmt.Sprintf("run with --blocks %d or more", spec.MinBlocks)})
	}
}
