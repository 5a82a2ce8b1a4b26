package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// reported is a trial that a report rests on.
type reported struct {
	test spec.Test
	side string // its variant, or of separate runs the side's name
	*cell
}

// twoEnds says whether a worker takes part at the remote end.
func (x reported) twoEnds() bool { return x.test.Kind().HasRemote() }

// common are the warnings that are told once for the whole report, and not
// again beside each row.
type common struct {
	kinds    map[kind]bool
	warnings []result.Warning
}

// commonTo picks out what every trial says against all of its figures; or all
// trials that could say it, which are those of the tests with a worker at the
// remote end; or all of some sides. What is said of sides with one code is told
// as one warning, so that it shows what only some of them have. named says
// whose trials they are: " of kthread".
func commonTo(trials []reported, named func(sides []string) string) common {
	// A trial that could not be had says nothing of what the others have in
	// common.
	trials = slices.DeleteFunc(slices.Clone(trials), func(x reported) bool {
		return x.cell != nil && slices.ContainsFunc(x.warnings, func(w noted) bool { return w.Code == result.Unavailable })
	})
	c := common{kinds: map[kind]bool{}}
	scopes := []struct {
		name string
		in   func(reported) bool
	}{
		{"", func(reported) bool { return true }},
		{" with a remote end", reported.twoEnds},
	}
	for _, scope := range scopes {
		c.warnings = append(c.warnings, c.pick(trials, scope.name, scope.in)...)
	}
	var ofSides []result.Warning
	for _, scope := range scopes {
		for _, sides := range sidesThatAgree(trials, scope.in) {
			of := func(x reported) bool { return scope.in(x) && slices.Contains(sides, x.side) }
			ofSides = append(ofSides, c.pick(trials, named(sides)+scope.name, of)...)
		}
	}
	c.warnings = append(c.warnings, joined(ofSides)...)
	return c
}

// sidesThatAgree is, for each thing that trials say, the sides of which all
// trials within the scope say it; those of most sides first.
func sidesThatAgree(trials []reported, in func(reported) bool) [][]string {
	var order []string
	bySide := map[string]*tally{}
	for _, x := range trials {
		if !in(x) {
			continue
		}
		if bySide[x.side] == nil {
			bySide[x.side] = &tally{}
			order = append(order, x.side)
		}
		bySide[x.side].add(x.aboutAll())
	}
	var sets [][]string
	for _, first := range order {
		for _, g := range bySide[first].groups {
			var set []string
			for _, side := range order {
				if t := bySide[side]; t.count(g.kind) == t.trials {
					set = append(set, side)
				}
			}
			known := slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, set) })
			if len(set) > 0 && !known {
				sets = append(sets, set)
			}
		}
	}
	slices.SortStableFunc(sets, func(a, b []string) int { return len(b) - len(a) })
	return sets
}

// aboutAll are the trial's warnings against all of its figures.
func (c *cell) aboutAll() []noted {
	return slices.DeleteFunc(slices.Clone(c.warnings), func(w noted) bool { return w.Metric != "" })
}

// list writes names as in a sentence.
func list(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// joined makes one warning of those that have their code and advice in common.
func joined(warnings []result.Warning) []result.Warning {
	var all []result.Warning
	for _, w := range warnings {
		i := slices.IndexFunc(all, func(o result.Warning) bool { return o.Code == w.Code && o.Advice == w.Advice })
		if i < 0 {
			all = append(all, w)
			continue
		}
		all[i].Text += "; " + w.Text
	}
	return all
}

// ofSides says whose trials some are.
func ofSides(names []string) string { return " of " + list(names) }

// pick returns what all trials of a class say, if that is not known yet. A single
// trial is no class: what it says belongs to its rows.
func (c *common) pick(trials []reported, class string, in func(reported) bool) []result.Warning {
	var inside, outside tally
	for _, x := range trials {
		if in(x) {
			inside.add(x.aboutAll())
		} else {
			outside.add(x.aboutAll())
		}
	}
	var picked []result.Warning
	for _, g := range inside.groups {
		if g.count < inside.trials || inside.trials < 2 || c.kinds[g.kind] || g.kind.code == result.Unavailable {
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
		picked = append(picked, g.told(often))
	}
	return picked
}

// warningsAbout merges what trials say against one metric, less what they all
// say.
func (c *common) warningsAbout(metric result.Taken, trials []*cell) []result.Warning {
	var t tally
	for _, x := range trials {
		var about []noted
		for _, w := range x.warnings {
			if w.About(metric) && !c.kinds[w.kind] {
				about = append(about, w)
			}
		}
		for _, w := range x.uncounted {
			if w.Alone(metric) {
				about = append(about, note([]result.Warning{w})...)
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
