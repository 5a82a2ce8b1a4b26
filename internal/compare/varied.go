package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// variedIn are the parameters of a test that factors of the plan set: each variant
// has its own, and the plan's test says nothing of them.
func variedIn(plan *spec.Plan, test spec.Test) []string {
	var names []string
	for _, f := range plan.Factors {
		for _, level := range f.Levels {
			for _, s := range f.Settings[level] {
				row, name, err := s.Row()
				if err == nil && row.Scope == spec.OnTest && slices.Contains(test.Kind().Accepts, name) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// without is a test whose parameters of those names are what it has by default;
// the test itself where it can't do without one.
func without(test spec.Test, names []string) spec.Test {
	const only = "default"
	p := spec.Plan{Factors: []spec.Factor{{Name: only, Levels: []string{only}, Settings: map[string][]spec.Setting{}}}}
	for _, name := range names {
		p.Factors[0].Settings[only] = append(p.Factors[0].Settings[only], spec.Setting{End: spec.EndBoth, Knob: "param." + name, Value: spec.Default})
	}
	if bare, err := p.TestUnder(spec.Variant{only: only}, test); err == nil {
		return bare
	}
	return test
}

// heading is a test in full, but for what each variant has its own of: "udp_rr
// flows=4, size by variant".
func heading(test spec.Test, varied []string) string {
	if len(varied) == 0 {
		return test.String()
	}
	parts := slices.DeleteFunc(strings.Fields(without(test, varied).String()), func(part string) bool {
		name, _, is := strings.Cut(part, "=")
		return is && slices.Contains(varied, name)
	})
	return strings.Join(parts, " ") + ", " + list(varied) + " by variant"
}

// shortName is a test in short, without what each variant has its own of.
func shortName(test spec.Test, varied []string) string {
	if len(varied) == 0 {
		return test.Short()
	}
	return without(test, varied).Short()
}

// Heading is the test in full, as heading says.
func (c *Comparison) Heading() string { return heading(c.Of(), c.Varied) }

// Heading is the test in full, as heading says.
func (c *Cell) Heading() string { return heading(c.Of(), c.Varied) }

// Name is the test in short, as shortName says, with its conditions.
func (d *Drift) Name() string {
	if d.Under == "" {
		return shortName(d.Of(), d.Varied)
	}
	return fmt.Sprintf("%s (%s)", shortName(d.Of(), d.Varied), d.Under)
}

// defined are the metrics that a test can have under any of the variants, in the
// order of reports: a parameter that a level sets can bring some of its own.
func (g *grid) defined(test int) []result.Definition {
	var all []result.Definition
	for _, of := range append([]spec.Test{g.plan.Tests[test]}, g.testsOf(test)...) {
		at := 0
		for _, d := range result.Definitions(of) {
			i := slices.IndexFunc(all, func(o result.Definition) bool { return o.Taken() == d.Taken() })
			if i < 0 {
				i = at
				all = slices.Insert(all, at, d)
			}
			at = i + 1
		}
	}
	return all
}

// testsOf are a test's under each variant.
func (g *grid) testsOf(test int) []spec.Test {
	var all []spec.Test
	for _, of := range g.under {
		all = append(all, of[test])
	}
	return all
}
