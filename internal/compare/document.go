package compare

import (
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

// Document is what a form of a report has to show: the comparison or the single run,
// and the trials behind it.
type Document struct {
	// Report is the comparison; nil where the document is of one run in which nothing
	// varies, and then Summary is there.
	Report  *Report
	Summary *summary.Report
	// Kept are the runs, the baseline's first; one where everything is of one plan.
	Kept []Kept
}

// Of is one trial of a document, by what the report calls its variant.
type Of struct {
	// Variant is as Count has it: a level where one factor is varied, or "rx=kthread
	// offload=on", or the side's name between separate runs; empty for a single run.
	Variant string
	// At is the variant's place among the report's, 0 for the baseline.
	At int
	// Under is the plan's conditions, or the variant within a side's runs where those
	// have several; empty for none.
	Under string
	Run   *result.Run
	Trial *result.Trial
}

// Variants are what the report calls its variants, the baseline's name first; nil for
// a single run.
func (d *Document) Variants() []string {
	var names []string
	for _, t := range d.Trials() {
		for len(names) <= t.At {
			names = append(names, "")
		}
		names[t.At] = t.Variant
	}
	if len(names) == 1 && names[0] == "" {
		return nil
	}
	return names
}

// Trials are all that count, each of a run's in the order in which they ran: of several
// attempts at one the last, and none of a plan's tests beside.
func (d *Document) Trials() []Of {
	var all []Of
	for i := range d.Kept {
		k, err := newKeptRun(&d.Kept[i])
		if err != nil {
			continue // what can't be compared is in no report
		}
		all = append(all, d.of(k, &d.Kept[i].Run)...)
	}
	return all
}

func (d *Document) of(k *keptRun, run *result.Run) []Of {
	var all []Of
	switch r := d.Report; {
	case r == nil:
		for _, x := range k.trials {
			all = append(all, Of{Under: variantKey(x), Run: run, Trial: x})
		}
	case r.Separate() && r.Factors[0].Name == wholeRun:
		side, names := d.side(run.ID), r.Factors[0].Levels
		for _, x := range k.trials {
			o := Of{Variant: names[side], At: side, Run: run, Trial: x}
			if len(k.variants) > 1 {
				o.Under = variantKey(x)
			}
			all = append(all, o)
		}
	default:
		conditions, compared := spec.Split(r.Factors)
		var order []string
		for _, v := range variantsOf(compared, r.Factors, run.Plan) {
			order = append(order, shortKey(v, compared))
		}
		for _, x := range k.trials {
			o := Of{Variant: shortKey(x.Variant.Of(compared), compared), Under: x.Variant.Of(conditions).Key(conditions), Run: run, Trial: x}
			if o.At = slices.Index(order, o.Variant); o.At >= 0 {
				all = append(all, o)
			}
		}
	}
	return all
}

// variantsOf are the combinations of the compared factors' levels, the baseline's
// first.
func variantsOf(compared, all []spec.Factor, plan *spec.Plan) []spec.Variant {
	p := spec.Plan{Factors: compared}
	variants := p.Variants()
	if plan == nil || plan.Baseline == nil {
		return variants
	}
	base := plan.Baseline.Of(compared)
	at := slices.IndexFunc(variants, func(v spec.Variant) bool { return v.Key(compared) == base.Key(compared) })
	if at > 0 {
		variants = slices.Insert(slices.Delete(slices.Clone(variants), at, at+1), 0, variants[at])
	}
	return variants
}

// side is the place of a separate run's side among the report's.
func (d *Document) side(id string) int {
	for _, s := range d.Report.Sources {
		if s.ID == id {
			return max(0, int(s.Side[0]-'a'))
		}
	}
	return 0
}
