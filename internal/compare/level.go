package compare

import (
	"fmt"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Level is all comparisons of one level of a factor with its baseline.
type Level struct {
	Factor, Baseline, Variant string
	Rows                      []Comparison
}

// Levels returns the comparisons in groups, in the report's order.
func (r *Report) Levels() []Level { return levels(r.Comparisons) }

// Interactions returns the effects in groups, in the report's order.
func (r *Report) Interactions() []Level { return levels(r.Effects) }

// SimpleEffects returns the simple effects in groups, in the report's order.
func (r *Report) SimpleEffects() []Level { return levels(r.Simple) }

func levels(rows []Comparison) []Level {
	var all []Level
	for _, c := range rows {
		i := slices.IndexFunc(all, func(l Level) bool {
			return l.Factor == c.Factor && l.Variant == c.Variant && l.Baseline == c.Baseline
		})
		if i < 0 {
			i = len(all)
			all = append(all, Level{Factor: c.Factor, Baseline: c.Baseline, Variant: c.Variant})
		}
		all[i].Rows = append(all[i].Rows, c)
	}
	return all
}

// Named is the level as text: with its factor where the report has several.
func (r *Report) Named(l Level) string {
	if len(r.Compared()) > 1 {
		return fmt.Sprintf("%s %s against %s", l.Factor, l.Variant, l.Baseline)
	}
	return l.Variant + " against " + l.Baseline
}

// Of is the test that the row is about.
func (c *Comparison) Of() spec.Test { return spec.Test{Name: c.Test, Params: c.Params} }

// Name is the test in short, with what sets the row apart from others of it.
func (c *Comparison) Name() string {
	if c.Under == "" {
		return shortName(c.Of(), c.Varied)
	}
	return fmt.Sprintf("%s (%s)", shortName(c.Of(), c.Varied), c.Under)
}

// taken says which figure the row is of.
func (c *Comparison) taken() result.Taken { return result.Taken{Name: c.Metric, End: c.End} }

// Rank says how far forward the row belongs; Detail if the metric is not
// known.
func (c *Comparison) Rank() result.Rank {
	if rank, given := c.Role.rank(); given {
		return rank
	}
	d, ok := result.DefinitionOf(c.Of(), c.Metric, c.End)
	if !ok {
		return result.Detail
	}
	return d.Rank
}
