package spec

import (
	"fmt"
	"slices"
)

// Default as the value of a test's parameter is what the test has without it.
const Default = "default"

// TestUnder is the plan's test as a variant runs it: with the parameters that
// the variant's levels set, where the test takes them.
func (p *Plan) TestUnder(v Variant, t Test) (Test, error) {
	k, ok := KindOf(t.Name)
	if !ok {
		return Test{}, t.complete()
	}
	given := t
	for _, s := range p.SettingsOf(v) {
		row, arg, err := s.Row()
		if err != nil {
			return Test{}, err
		}
		if row.Scope != OnTest || !slices.Contains(k.Accepts, arg) {
			continue
		}
		if t.Params, err = t.Params.with(k, arg, s.Value); err != nil {
			return Test{}, err
		}
	}
	if t == given {
		return t, nil
	}
	if t.Params.Request != 0 && t.Params.Response != 0 {
		t.Params.Size = 0 // it says nothing beside both
	}
	if err := t.complete(); err != nil {
		return Test{}, fmt.Errorf("test %q under %s: %w", given, v.Key(p.Factors), err)
	}
	return t, nil
}

// with is the parameters with one of them set in place of what it was.
func (p Params) with(k Kind, name, value string) (Params, error) {
	var changed Params
	for _, row := range params {
		v := row.get(&p)
		if row.name == name {
			if v = value; value == Default {
				continue
			}
		}
		if v == "" {
			continue
		}
		if err := row.set(&changed, k, v); err != nil {
			return Params{}, err
		}
	}
	return changed, nil
}

// validateUnder checks every test under every variant.
func (p *Plan) validateUnder() error {
	var set []Factor // those that set parameters
	for _, f := range p.Factors {
		for _, s := range f.Settings[f.Levels[0]] {
			row, arg, err := s.Row()
			if err != nil {
				return err
			}
			if row.Scope != OnTest {
				continue
			}
			if !slices.ContainsFunc(p.Tests, func(t Test) bool { return slices.Contains(t.Kind().Accepts, arg) }) {
				return faultAt(at("factors", f.Name), "factor %s: no test of the plan takes %s", f.Name, arg)
			}
			set = append(set, f)
			break
		}
	}
	if len(set) == 0 {
		return nil
	}
	variants := p.Chosen
	if variants == nil {
		variants = crossing(set)
	}
	last := at("factors", set[len(set)-1].Name)
	sub := Plan{Factors: set}
	for _, v := range variants {
		seen := map[Test]Test{}
		for _, t := range p.Tests {
			u, err := sub.TestUnder(v, t)
			if err == nil {
				err = p.checkEach(u)
			}
			if err != nil {
				return within(err, last...)
			}
			if other, twice := seen[u]; twice {
				return faultAt(last, "tests %q and %q are the same, %q, under %s", other, t, u, v.Key(set))
			}
			seen[u] = t
		}
	}
	return nil
}
