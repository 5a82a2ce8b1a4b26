package compare

import (
	"fmt"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// contrast is one question to a block: how far the plus variants lie above
// the minus variants. Every block answers it with one number.
type contrast struct {
	factor, baseline, variant string
	// minus and plus are indices into the variants that are run.
	minus, plus []int
	// minusShares and plusShares are what each of them counts for; nil where all
	// of a side count alike and its mean is taken.
	minusShares, plusShares []float64
	// weight is what the difference of the two sides is multiplied by: 2 for an
	// interaction of a full crossing, which is a difference of two differences.
	weight float64
	// sides says that there are figures of a baseline and of a variant to show:
	// those of minus and plus, unless shown has the variants that they are means of.
	sides bool
	shown *[2][]int
	// under is what holds while the two sides differ: "offload=on".
	under    string
	warnings []result.Warning
	// pair are the two changes of an interaction.
	pair [2]change
}

// effectsOf has a contrast for each main effect and each two-factor interaction
// that the variants that are run tell of. aliases are the groups of effects that
// they can't tell apart, and warnings say what is not told.
func effectsOf(plan *spec.Plan, variants []spec.Variant) (mains, both []contrast, aliases [][]string, warnings []result.Warning) {
	if whole(plan, variants) {
		return mainEffects(plan, variants), interactions(plan, variants), nil, nil
	}
	return newDesign(plan, variants).effects()
}

// whole says that all of the factors' crossing is run.
func whole(plan *spec.Plan, variants []spec.Variant) bool {
	n := 1
	for _, f := range plan.Factors {
		if n *= len(f.Levels); n > len(variants) {
			return false
		}
	}
	return n == len(variants)
}

// ran are the variants that the plan runs.
func ran(plan *spec.Plan) []spec.Variant {
	if plan.Chosen != nil {
		return plan.Chosen
	}
	return plan.Variants()
}

// mainEffects has a contrast for each factor's levels but the baseline, in
// the plan's order. The other factors' levels are on both sides alike.
func mainEffects(plan *spec.Plan, variants []spec.Variant) []contrast {
	var all []contrast
	for _, f := range plan.Factors {
		base := plan.Baseline[f.Name]
		for _, level := range f.Levels {
			if level == base {
				continue
			}
			all = append(all, contrast{
				factor: f.Name, baseline: base, variant: level, weight: 1, sides: true,
				minus: having(variants, spec.Variant{f.Name: base}),
				plus:  having(variants, spec.Variant{f.Name: level}),
			})
		}
	}
	return all
}

// interactions has a contrast for each pair of factors and each pair of their
// levels but the baselines: (both - second alone) - (first alone - neither).
func interactions(plan *spec.Plan, variants []spec.Variant) []contrast {
	var all []contrast
	for i, f := range plan.Factors {
		for _, g := range plan.Factors[i+1:] {
			f0, g0 := plan.Baseline[f.Name], plan.Baseline[g.Name]
			cell := func(fl, gl string) []int { return having(variants, spec.Variant{f.Name: fl, g.Name: gl}) }
			for _, fl := range f.Levels {
				for _, gl := range g.Levels {
					if fl == f0 || gl == g0 {
						continue
					}
					all = append(all, contrast{
						factor:   fmt.Sprintf("%s:%s", f.Name, g.Name),
						baseline: fmt.Sprintf("%s:%s", f0, g0),
						variant:  fmt.Sprintf("%s:%s", fl, gl),
						minus:    append(cell(fl, g0), cell(f0, gl)...),
						plus:     append(cell(fl, gl), cell(f0, g0)...),
						weight:   2,
						pair:     [2]change{{f.Name, fl}, {g.Name, gl}},
					})
				}
			}
		}
	}
	return all
}

// having returns the indices of the variants that have all of those levels.
func having(variants []spec.Variant, levels spec.Variant) []int {
	var all []int
	for i, v := range variants {
		has := true
		for name, level := range levels {
			has = has && v[name] == level
		}
		if has {
			all = append(all, i)
		}
	}
	return all
}
