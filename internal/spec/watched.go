package spec

import (
	"slices"
	"strings"
)

// ExplainWays are the values of explain, the default first.
func ExplainWays() []string { return []string{ExplainAuto, ExplainBPF, ExplainStamps, ExplainClock} }

// Watched says that round trips are watched on their way.
func (t Test) Watched() bool { return t.Params.Explain != "" }

// Unwatched is the same test without that.
func (t Test) Unwatched() Test {
	t.Params.Explain = ""
	return t
}

// CanWatch says whether the test's round trips can be watched.
func (t Test) CanWatch() bool {
	t.Params.Explain = ExplainAuto
	_, err := NewTest(t.Name, t.Params)
	return err == nil
}

// pairWatched has each test that is watched beside itself as it is without that, since
// what it costs to watch is told from both: for those that are named so, and for all
// that can if the plan asks for that. Tests have their defaults already.
func (p *Plan) pairWatched() error {
	has := func(t Test) bool { return slices.Contains(p.Tests, t) }
	named := slices.Clone(p.Tests)
	for _, t := range named {
		if t.Watched() && !has(t.Unwatched()) {
			p.Tests = append(p.Tests, t.Unwatched())
		}
	}
	if p.Explain == "" {
		return nil
	}
	if !slices.Contains(ExplainWays(), p.Explain) {
		return faultAt(at("explain"), "explain %q is none: valid are %s", p.Explain, strings.Join(ExplainWays(), ", "))
	}
	some := false
	for _, t := range slices.Clone(p.Tests) {
		watched := t.Unwatched()
		watched.Params.Explain = p.Explain
		of := func(o Test) bool { return o.Watched() && o.Unwatched() == t.Unwatched() }
		switch {
		case slices.ContainsFunc(p.Tests, of):
			some = true
		case t.CanWatch():
			some = true
			p.Tests = append(p.Tests, watched)
		case t.Kind().IsStream(): // its queues are looked at, in the same window
			some = true
		}
	}
	if !some {
		return faultAt(at("explain"), "explain has nothing to watch: it is for round trips one after another (%s), and for streams", strings.Join(canWatch(), ", "))
	}
	return nil
}

// canWatch are the tests that can be watched.
func canWatch() (names []string) {
	for _, k := range kinds {
		if slices.Contains(k.Accepts, "explain") {
			names = append(names, k.Name)
		}
	}
	return names
}

// WithoutWatched is the plan without the tests that are watched.
func (p *Plan) WithoutWatched() Plan {
	q := *p
	q.Explain = ""
	q.Tests = slices.DeleteFunc(slices.Clone(p.Tests), Test.Watched)
	return q
}
