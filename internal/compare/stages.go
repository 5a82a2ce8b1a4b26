package compare

import (
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
)

// ofPlan are a plan's trials by what the report calls their variants, of several
// attempts at one the last.
func ofPlan(plan *spec.Plan, trials []result.Trial) []stages.Of {
	conditions, compared := spec.Split(plan.Factors)
	var order []string
	for _, v := range variantsOf(compared, plan.Factors, plan) {
		order = append(order, shortKey(v, compared))
	}
	var all []stages.Of
	for _, t := range latest(trials) {
		o := stages.Of{Variant: shortKey(t.Variant.Of(compared), compared), Under: t.Variant.Of(conditions).Key(conditions), Trial: t}
		if o.At = slices.Index(order, o.Variant); o.At >= 0 {
			all = append(all, o)
		}
	}
	return all
}

// latest are the trials without those of which a later attempt counts.
func latest(trials []result.Trial) []*result.Trial {
	at := map[place]int{}
	var all []*result.Trial
	for i := range trials {
		t := &trials[i]
		p := place{t.Block, t.Test.String(), variantKey(t)}
		if k, has := at[p]; !has {
			at[p] = len(all)
			all = append(all, t)
		} else if all[k].Attempt <= t.Attempt {
			all[k] = t
		}
	}
	return all
}

// ofParties are the trials of separate runs by their sides, those that were watched and
// those of the same tests that were not.
func ofParties(sides [2]*party) []stages.Of {
	var all []stages.Of
	for at, p := range sides {
		for _, k := range p.kept {
			for _, t := range slices.Concat(k.trials, k.watched) {
				o := stages.Of{Variant: p.name, At: at, Trial: t}
				if !p.ignoresVariant {
					o.Under = variantKey(t)
				}
				all = append(all, o)
			}
		}
	}
	return all
}

// Watched are the document's trials in which round trips were watched, by what the report
// calls their variants.
func (d *Document) Watched() []stages.Of {
	var all []stages.Of
	for i := range d.Kept {
		k, err := newKeptRun(&d.Kept[i])
		if err != nil {
			continue // what can't be compared is in no report
		}
		k.trials = k.watched
		for _, o := range d.of(k, &d.Kept[i].Run) {
			all = append(all, stages.Of{Variant: o.Variant, At: o.At, Under: o.Under, Trial: o.Trial})
		}
	}
	return all
}
