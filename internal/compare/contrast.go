package compare

import (
	"fmt"

	"netdelta/internal/spec"
)

// contrast is one question to a block: how far the plus variants lie above
// the minus variants. Every block answers it with one number.
type contrast struct {
	factor, baseline, variant string
	// minus and plus are indices into the plan's variants, equally many.
	minus, plus []int
	// weight is what the difference of the two means is multiplied by: 2 for
	// an interaction, which is a difference of two differences.
	weight float64
	// sides says that the minus and plus figures mean something by themselves.
	sides bool
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
