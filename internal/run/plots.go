package run

import (
	"context"

	"netdelta/internal/spec"
)

// remake is the variant whose settings are made before those of a slot, so that
// each whole plot sets its slow levels anew; nil where nothing needs that. A plot
// may begin with a level that the plot before had, too. Left as it is, whatever is
// peculiar to that one setting of it would be in both plots, and they would not be
// the independent repetitions for which the analysis takes them.
func (r *runner) remake(slot spec.Slot) spec.Variant {
	if r.before == nil || r.before.Plot == slot.Plot {
		return nil
	}
	var same []string // slow factors whose level stays
	for _, f := range r.Plan.Factors {
		if f.Slow && f.Settings != nil && slot.Variant[f.Name] == r.before.Variant[f.Name] {
			same = append(same, f.Name)
		}
	}
	var best spec.Variant
	most, least := 0, 0
	for _, v := range r.Plan.Variants() {
		other, changes := 0, 0
		for _, name := range same {
			if v[name] != slot.Variant[name] {
				other++
			}
		}
		for name, level := range v {
			if level != slot.Variant[name] {
				changes++
			}
		}
		if other > most || other == most && other > 0 && changes < least {
			best, most, least = v, other, changes
		}
	}
	return best
}

// detour makes the settings of a variant on the way to another's. A host that goes
// meanwhile does as it should where a level is a boot: what counts as an attempt is
// what the slot itself asks for.
func (r *runner) detour(ctx context.Context, v spec.Variant) error {
	err := r.change(ctx, v)
	if !gone(err) {
		return err
	}
	r.release(ctx, err)
	if err := r.connect(ctx); err != nil {
		return err
	}
	return r.change(ctx, v)
}
