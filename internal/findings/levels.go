package findings

import (
	"math"
	"slices"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// ready says that there is a plan with trials and a report to add to.
func (in *Input) ready() bool { return in != nil && in.Plan != nil && in.Report != nil }

// factor is the plan's factor of that name; nil for none.
func (in *Input) factor(name string) *spec.Factor {
	for i := range in.Plan.Factors {
		if f := &in.Plan.Factors[i]; f.Name == name && len(f.Levels) > 0 {
			return f
		}
	}
	return nil
}

// base is the level of a factor that its others are compared with: the first where
// the plan names none.
func (in *Input) base(f *spec.Factor) string {
	if level := in.Plan.Baseline[f.Name]; slices.Contains(f.Levels, level) {
		return level
	}
	return f.Levels[0]
}

// having are the variants that the plan runs that have all of some levels.
func (in *Input) having(levels spec.Variant) []spec.Variant {
	return slices.DeleteFunc(in.Plan.Variants(), func(v spec.Variant) bool { return !within(v, levels) })
}

// made are the trials of a test under variants that there are, by variant and block.
func (in *Input) made(test spec.Test, variants []spec.Variant) []*result.Trial {
	var all []*result.Trial
	for _, v := range variants {
		for _, t := range in.trials(test, v) {
			if t != nil {
				all = append(all, t)
			}
		}
	}
	return all
}

// testsOf are the plan's tests of a kind.
func (in *Input) testsOf(wanted func(spec.Test) bool) []spec.Test {
	return slices.DeleteFunc(slices.Clone(in.Plan.Tests), func(t spec.Test) bool { return !wanted(t) })
}

// averaged are a metric of a test by block, as the mean over variants.
func (in *Input) averaged(test spec.Test, variants []spec.Variant, t result.Taken) []float64 {
	all := make([][]float64, len(variants))
	for i, v := range variants {
		all[i] = in.figures(test, v, t)
	}
	return mean(all...)
}

// Kinds of tests.
func udpStream(t spec.Test) bool { return t.Name == "udp_stream" }
func tcpStream(t spec.Test) bool { return t.Name == "tcp_stream" }
func udpRR(t spec.Test) bool     { return t.Name == "udp_rr" }

// namedAmong is a test's name behind a comma, where there are several.
func namedAmong(test spec.Test, tests []spec.Test) string {
	if len(tests) < 2 {
		return ""
	}
	return ", " + test.Short()
}

// local and remote are metrics taken at either end.
func local(metric string) result.Taken  { return result.Taken{Name: metric, End: result.Local} }
func remote(metric string) result.Taken { return result.Taken{Name: metric, End: result.Remote} }

// against is a level of a factor against its baseline under a condition, as
// Comparison.Under has it; nil for none.
func against(all []pair, factor, level, under string) *pair {
	i := slices.IndexFunc(all, func(p pair) bool { return p.factor == factor && p.level == level && p.text == under })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// verdictOf is what the report says of a comparison: unsure where there is none.
func verdictOf(c *compare.Comparison) compare.Verdict {
	if c == nil || c.Verdict == "" {
		return compare.Unsure
	}
	return c.Verdict
}

// known says that a comparison has an estimate.
func known(c *compare.Comparison) bool {
	if c == nil {
		return false
	}
	est, _, _ := c.Shift()
	return finite(est)
}

// estimate is a comparison's shift in percent without its interval: "-14%".
func estimate(c *compare.Comparison) string {
	if !known(c) {
		return "n/a"
	}
	est, _, _ := c.Shift()
	return percents(stats.Interval{Est: est, Lo: math.NaN(), Hi: math.NaN()})
}
