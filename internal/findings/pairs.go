package findings

import (
	"maps"
	"slices"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// pair is one level of a factor against its baseline, within one set of
// circumstances.
type pair struct {
	factor, baseline, level string
	// under are the levels of the plan's conditions, empty where it has none; text
	// is that as Comparison.Under has it.
	under spec.Variant
	text  string
	// a and b are the variants of either side, by the levels of the other factors:
	// the ith of both differ in the factor alone.
	a, b []spec.Variant
}

// pairs are all that the plan compares, by condition, factor and level.
func (in *Input) pairs() []pair {
	var all []pair
	variants := in.Plan.Variants()
	for _, under := range in.conditions() {
		for _, f := range in.Plan.Factors {
			if f.Condition {
				continue
			}
			base := in.Plan.Baseline[f.Name]
			for _, level := range f.Levels {
				if level == base {
					continue
				}
				p := pair{factor: f.Name, baseline: base, level: level, under: under, text: in.conditionText(under)}
				for _, v := range variants {
					if v[f.Name] != level || !within(v, under) {
						continue
					}
					w := with(v, f.Name, base)
					if slices.ContainsFunc(variants, func(o spec.Variant) bool { return maps.Equal(o, w) }) {
						p.a, p.b = append(p.a, w), append(p.b, v)
					}
				}
				if len(p.a) > 0 {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// with is a variant with one factor at another level.
func with(v spec.Variant, factor, level string) spec.Variant {
	w := spec.Variant{}
	maps.Copy(w, v)
	w[factor] = level
	return w
}

// within says whether a variant has all of some levels.
func within(v, levels spec.Variant) bool {
	for name, l := range levels {
		if v[name] != l {
			return false
		}
	}
	return true
}

// conditions are the circumstances that the plan compares within: every combination
// of its conditions' levels that was to be run, or one empty one.
func (in *Input) conditions() []spec.Variant {
	conditions, _ := spec.Split(in.Plan.Factors)
	var all []spec.Variant
	for _, v := range in.Plan.Variants() {
		under := v.Of(conditions)
		if !slices.ContainsFunc(all, func(o spec.Variant) bool { return maps.Equal(o, under) }) {
			all = append(all, under)
		}
	}
	return all
}

// conditionText is circumstances in words, as Comparison.Under has them:
// "rate=100Mbit/s".
func (in *Input) conditionText(under spec.Variant) string {
	conditions, _ := spec.Split(in.Plan.Factors)
	return under.Key(conditions)
}

// name is what a variant is called: its level where the plan has one factor, and
// else "rx=kthread pinned=on".
func (in *Input) name(v spec.Variant) string {
	if len(in.Plan.Factors) == 1 {
		return v[in.Plan.Factors[0].Name]
	}
	return v.Key(in.Plan.Factors)
}

// comparison is the report's row of a pair, test and metric; nil where it has none.
func (in *Input) comparison(p pair, test spec.Test, t result.Taken) *compare.Comparison {
	for i := range in.Report.Comparisons {
		c := &in.Report.Comparisons[i]
		if c.Factor == p.factor && c.Variant == p.level && c.Baseline == p.baseline && c.Under == p.text &&
			c.Of() == test && c.Metric == t.Name && c.End == t.End {
			return c
		}
	}
	return nil
}

// title names a pair at the head of a sentence: "kthread against softirq", with its
// factor where the plan has several, and its circumstances.
func (in *Input) title(p pair) string {
	text := p.level + " against " + p.baseline
	if len(in.Plan.Factors) > 1 {
		text = p.factor + " " + text
	}
	if p.text != "" {
		text += " (" + p.text + ")"
	}
	return text
}
