package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Role is what a plan that names the metrics that matter makes of a row; empty
// where the metric has its own rank.
type Role string

const (
	RoleHeadline Role = "headline"
	RoleMain     Role = "main"
	RoleDetail   Role = "detail"
)

func (r Role) rank() (rank result.Rank, given bool) {
	switch r {
	case RoleHeadline:
		return result.Headline, true
	case RoleMain:
		return result.Main, true
	case RoleDetail:
		return result.Detail, true
	}
	return 0, false
}

// role is a metric's part in the report on a test. Those that the plan names
// matter, whatever their rank, and all others are details. Where the metric that
// stands for a test is not among them, the first that is stands for it.
func (g *grid) role(test int, d result.Definition) Role {
	named := g.plan.Metrics
	switch {
	case named == nil:
		return ""
	case !slices.Contains(named, d.Name):
		return RoleDetail
	case d.Rank == result.Headline:
		return ""
	}
	first := ""
	for _, name := range slices.Backward(named) {
		for _, other := range g.defined(test) {
			switch {
			case other.Name != name:
			case other.Rank == result.Headline:
				return RoleMain
			default:
				first = name
			}
		}
	}
	if first == d.Name {
		return RoleHeadline
	}
	return RoleMain
}

// CheckMetrics reports a metric that none of the plan's tests has.
func CheckMetrics(plan *spec.Plan) error {
	var valid []string
	for _, test := range plan.Tests {
		for _, name := range result.MetricNames(test.Name) {
			if !slices.Contains(valid, name) {
				valid = append(valid, name)
			}
		}
	}
	for _, name := range plan.Metrics {
		if !slices.Contains(valid, name) {
			return fmt.Errorf("metric %q is none of the plan's tests: they have %s", name, strings.Join(valid, ", "))
		}
	}
	return nil
}

// headline is the figure that stands for a test, or one of them.
type headline struct {
	test int // in the plan
	result.Definition
}

// headlines are the figures that stand for the tests.
func (g *grid) headlines() []headline {
	var all []headline
	for t := range g.plan.Tests {
		for _, d := range g.definitions(t) {
			rank, given := g.role(t, d).rank()
			if given && rank == result.Headline || !given && d.Rank == result.Headline {
				all = append(all, headline{t, d})
			}
		}
	}
	return all
}

// link is the scale on which the figure's trials can all be put: that of its
// definition, and its own unit where one of them is zero.
func (g *grid) link(h headline) (Scale, link) {
	if h.Scale == Difference {
		return Difference, linear
	}
	for _, x := range g.of(h.test) {
		if v, ok := x.figures[h.Taken()]; ok && v <= 0 {
			return Difference, linear
		}
	}
	return Percent, logarithmic
}

// linked has the figure of each variant in each block on a scale; NaN where it
// is missing.
func (g *grid) linked(h headline, l link) [][]float64 {
	all := make([][]float64, len(g.variants))
	for v := range all {
		all[v] = make([]float64, g.plan.Blocks)
		for b := range all[v] {
			all[v][b] = l.to(g.cells[h.test][v][b].figure(h.Taken()))
		}
	}
	return all
}
