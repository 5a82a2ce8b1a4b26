package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// postedPair are two variants that differ in one factor, by their places.
type postedPair struct {
	a, b                             int
	factor, baseline, variant, under string
}

// postedFactors are what varies, and each variant's levels of it.
func postedFactors(variants []PostedVariant, given []spec.Factor) ([]spec.Factor, []spec.Variant, error) {
	levels := make([]spec.Variant, len(variants))
	if len(given) == 0 {
		f := spec.Factor{Name: wholeRun}
		for i, v := range variants {
			if v.Name == "" || slices.Contains(f.Levels, v.Name) {
				return nil, nil, fmt.Errorf("%w: two variants are called %q: give them names that tell them apart", errFactors, v.Name)
			}
			f.Levels = append(f.Levels, v.Name)
			levels[i] = spec.Variant{wholeRun: v.Name}
		}
		return []spec.Factor{f}, levels, nil
	}
	for i, v := range variants {
		for _, f := range given {
			if !slices.Contains(f.Levels, v.Levels[f.Name]) {
				return nil, nil, fmt.Errorf("%w: %s has level %q, and valid are %s", errFactors, f.Name, v.Levels[f.Name], strings.Join(f.Levels, ", "))
			}
		}
		if len(v.Levels) != len(given) {
			return nil, nil, fmt.Errorf("%w: variant %v is not of %d factors", errFactors, v.Levels, len(given))
		}
		key := v.Levels.Key(given)
		if slices.ContainsFunc(levels[:i], func(o spec.Variant) bool { return o.Key(given) == key }) {
			return nil, nil, fmt.Errorf("%w: %s is there twice", errFactors, key)
		}
		levels[i] = v.Levels
	}
	return given, levels, nil
}

// postedParties makes a side of each variant.
func postedParties(variants []PostedVariant, factors []spec.Factor, levels []spec.Variant) ([]*party, error) {
	var all []*party
	type trial struct {
		id    string
		order int
	}
	seen := map[trial]bool{}
	for i, v := range variants {
		x := &party{name: levels[i][factors[0].Name], letter: string(rune('a' + i)), ignoresVariant: true}
		if len(factors) > 1 {
			x.name = levels[i].Key(factors)
		}
		if len(v.Levels) > 0 {
			x.letter = "a" // one file has them all
		}
		for j := range v.Kept {
			k, err := newKeptRun(&v.Kept[j])
			if err != nil {
				return nil, err
			}
			for _, t := range k.trials {
				at := trial{k.ID, t.Order}
				if t.Imported == nil {
					return nil, fmt.Errorf("%s has figures that this program measured: they are compared with their own kind only", x.name)
				}
				if seen[at] {
					return nil, fmt.Errorf("%s is given twice, as %s: a run counts once, and not against itself", k.name(), x.name)
				}
				seen[at] = true
			}
			x.kept = append(x.kept, k)
		}
		all = append(all, x)
	}
	return all, nil
}

// name is the file that an import is from, or the run's id.
func (k *keptRun) name() string {
	if len(k.trials) > 0 && k.trials[0].Imported != nil && k.trials[0].Imported.Source != "" {
		return k.trials[0].Imported.Source
	}
	return "run " + k.ID
}

// postedPairs are all that differ from a variant at a factor's baseline in that
// factor only.
func postedPairs(parties []*party, levels []spec.Variant, factors []spec.Factor) []postedPair {
	var all []postedPair
	for _, f := range factors {
		others := slices.DeleteFunc(slices.Clone(factors), func(o spec.Factor) bool { return o.Name == f.Name })
		for _, level := range f.Levels[1:] {
			for b := range parties {
				if levels[b][f.Name] != level {
					continue
				}
				under := levels[b].Key(others)
				a := slices.IndexFunc(levels, func(v spec.Variant) bool {
					return v[f.Name] == f.Levels[0] && v.Key(others) == under
				})
				if a < 0 {
					continue
				}
				all = append(all, postedPair{a, b, f.Name, f.Levels[0], level, under})
			}
		}
	}
	return all
}

// postedOnly says that all trials of all sides are imports.
func postedOnly(sides ...*party) bool {
	for _, p := range sides {
		for _, k := range p.kept {
			for _, t := range k.trials {
				if t.Imported == nil {
					return false
				}
			}
		}
	}
	return true
}
