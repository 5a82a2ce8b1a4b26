package findings

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// usable says that there is a plan with something to vary, and a report.
func (in *Input) usable() bool {
	return in.ready() && !in.Plan.Single()
}

// found adds a sentence to the report, if it is one.
func (in *Input) found(text string) {
	if text != "" {
		in.Report.Findings = append(in.Report.Findings, text)
	}
}

// trials are those of a test of the plan under a variant, by block, the last attempt
// of each; nil where there is none.
func (in *Input) trials(test spec.Test, variant spec.Variant) []*result.Trial {
	all := make([]*result.Trial, max(0, in.Plan.Blocks))
	ran, err := in.Plan.TestUnder(variant, test)
	if err != nil {
		return all
	}
	for i := range in.Trials {
		t := &in.Trials[i]
		if t.Test != ran || !maps.Equal(t.Variant, variant) || t.Block < 0 || t.Block >= len(all) {
			continue
		}
		if last := all[t.Block]; last == nil || last.Attempt <= t.Attempt {
			all[t.Block] = t
		}
	}
	return all
}

// each is what f makes of each block's trial of a test under a variant: NaN where
// there is no trial, and where f has none.
func (in *Input) each(test spec.Test, variant spec.Variant, f func(*result.Trial) float64) []float64 {
	trials := in.trials(test, variant)
	all := make([]float64, len(trials))
	for b, t := range trials {
		all[b] = math.NaN()
		if t != nil {
			all[b] = f(t)
		}
	}
	return all
}

// figures are a metric of a test under a variant by block, in the metric's base unit;
// NaN where it is missing.
func (in *Input) figures(test spec.Test, variant spec.Variant, t result.Taken) []float64 {
	return in.each(test, variant, func(x *result.Trial) float64 { return in.figure(x, t) })
}

// figure is a metric of one of the trials; NaN where it has none. All of a trial's are
// derived at once, and only once.
func (in *Input) figure(x *result.Trial, t result.Taken) float64 {
	all, derived := in.derived[x]
	if !derived {
		all = map[result.Taken]float64{}
		for _, m := range x.Metrics() {
			all[m.Taken()] = m.Value
		}
		if in.derived == nil {
			in.derived = map[*result.Trial]map[result.Taken]float64{}
		}
		in.derived[x] = all
	}
	if v, there := all[t]; there {
		return v
	}
	return math.NaN()
}

// mean is the mean of several variants' figures in each block, NaN where one of
// them is missing: a factor's level is told over the levels of the others.
func mean(all ...[]float64) []float64 {
	if len(all) == 0 {
		return nil
	}
	sum := slices.Clone(all[0])
	for b := range sum {
		for _, one := range all[1:] {
			if b >= len(one) {
				sum[b] = math.NaN()
				continue
			}
			sum[b] += one[b]
		}
		sum[b] /= float64(len(all))
	}
	return sum
}

// level is the confidence of the report's intervals.
func (in *Input) level() float64 { return in.Report.Level() }

// median is the median over blocks with its interval, as the report's tables have it.
func (in *Input) median(x []float64) stats.Interval { return stats.MedianInterval(x, in.level()) }

// difference is what b is more than a, in their unit, over the blocks that have both.
func (in *Input) difference(a, b []float64) stats.Interval {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = b[i] - a[i]
	}
	return stats.SignedRank(d, in.level())
}

// change is what b is more than a in percent of a, over the blocks that have both
// above zero.
func (in *Input) change(a, b []float64) stats.Interval { return in.changeOf(logRatio(a, b)) }

// settled says that there are blocks enough for an interval of the report's level.
func (in *Input) settled(s stats.Interval) bool { return s.Level >= in.level() }

// changeOf is that of differences of logarithms.
func (in *Input) changeOf(d []float64) stats.Interval {
	s := stats.SignedRank(d, in.level())
	s.Est, s.Lo, s.Hi = percent(s.Est), percent(s.Lo), percent(s.Hi)
	return s
}

// logRatio is the logarithm of b over a in each block; NaN where one is missing or not
// above zero.
func logRatio(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = math.NaN()
		if a[i] > 0 && b[i] > 0 {
			d[i] = math.Log(b[i] / a[i])
		}
	}
	return d
}

// percent is a difference of logarithms as a change in percent.
func percent(d float64) float64 { return 100 * math.Expm1(d) }

// beside are the report's figures of a metric of the tests beside.
func (in *Input) beside(metric string) []compare.Beside {
	return slices.DeleteFunc(slices.Clone(in.Report.Beside), func(b compare.Beside) bool { return b.Metric != metric })
}

// judged says that a comparison's blocks are enough for a verdict, and gave one.
func judged(c *compare.Comparison) bool {
	est, _, _ := c.Shift()
	return finite(est) && c.Verdict != compare.Unsure && c.Verdict != ""
}

// testName is what a comparison's test is called in a sentence, without what its
// title says already.
func testName(c *compare.Comparison) string {
	plain := *c
	plain.Under = ""
	return plain.Name()
}

// ratio is a over b; NaN where b is nothing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// share writes a part of a whole, "62%", and bare the same without its sign.
func share(v float64) string { return bare(v) + "%" }
func bare(v float64) string  { return fmt.Sprintf("%.0f", 100*v) }
