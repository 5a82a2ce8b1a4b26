package compare

import (
	"cmp"
	"maps"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// PathEnd is the end of what the link between the two ends counted.
const PathEnd = "path"

// Count is a named counter over the trials of one test under one variant. Those
// of an end are what its engine counted, by the rules that package traffic
// states; those of the path are of the whole trial, warm-up and drain
// included.
type Count struct {
	Test   string      `json:"test"`
	Params spec.Params `json:"params"`
	Under  string      `json:"under,omitempty"` // as in Comparison
	// Variant is a level where one factor is varied, or "rx=kthread
	// offload=on"; the side's name between separate runs.
	Variant string  `json:"variant"`
	End     string  `json:"end"` // result.Local, result.Remote or PathEnd
	Name    string  `json:"name"`
	Median  float64 `json:"median"`
	Max     float64 `json:"max"`
	N       int     `json:"n"` // the trials that have it
}

// counter names a counter of a trial.
type counter struct{ end, name string }

// countersOf is all that the two ends and the path counted.
func countersOf(x *result.Trial) map[counter]float64 {
	all := map[counter]float64{}
	add := func(end string, counts map[string]int64) {
		for name, n := range counts {
			all[counter{end, name}] = float64(n)
		}
	}
	add(result.Local, x.Local.Counts)
	if x.Remote != nil {
		add(result.Remote, x.Remote.Counts)
	}
	add(PathEnd, x.Path.Counts)
	return all
}

// bundle is the trials of one test under one variant.
type bundle struct {
	test           spec.Test
	under, variant string
	trials         []*cell
}

// counts has each counter of the bundle that was ever other than zero, by end
// and name. What the path did not count is zero where it counted anything: a
// wire leaves zeros out. What an end did not count is not known.
func (b *bundle) counts() []Count {
	values := map[counter][]float64{}
	for _, x := range b.trials {
		for c, n := range x.counters {
			values[c] = append(values[c], n)
		}
	}
	paths := 0
	for _, x := range b.trials {
		if x.hasPath() {
			paths++
		}
	}
	all := []Count{}
	for c, v := range values {
		if c.end == PathEnd {
			v = append(v, make([]float64, paths-len(v))...)
		}
		if slices.Max(v) == 0 && slices.Min(v) == 0 {
			continue
		}
		all = append(all, Count{Test: b.test.Name, Params: b.test.Params, Under: b.under, Variant: b.variant,
			End: c.end, Name: c.name, Median: stats.Median(v), Max: slices.Max(v), N: len(v)})
	}
	slices.SortFunc(all, func(x, y Count) int {
		return cmp.Or(cmp.Compare(x.End, y.End), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// hasPath says whether anything on the path was counted.
func (c *cell) hasPath() bool {
	for k := range maps.Keys(c.counters) {
		if k.end == PathEnd {
			return true
		}
	}
	return false
}

// bundles are the plan's trials by test and variant, in the plan's order.
func (g *grid) bundles() []bundle {
	var all []bundle
	for t, test := range g.plan.Tests {
		for v := range g.variants {
			b := bundle{test: test, under: g.condition, variant: g.named(v)}
			g.each(t, []int{v}, func(c *cell) { b.trials = append(b.trials, c) })
			all = append(all, b)
		}
	}
	return all
}

// named is a variant as a report calls it.
func (g *grid) named(v int) string { return shortKey(g.variants[v], g.plan.Factors) }

// bundlesOf are the trials of separate runs by test and side.
func bundlesOf(all []*match, names [2]string) []bundle {
	var bundles []bundle
	for _, m := range all {
		for side, name := range names {
			bundles = append(bundles, bundle{m.test, m.under, name, m.trials(side)})
		}
	}
	return bundles
}

// setCounts adds what was counted.
func (r *Report) setCounts(bundles []bundle) {
	r.Counts, r.Losses = []Count{}, []Loss{}
	for i := range bundles {
		b := &bundles[i]
		r.Counts = append(r.Counts, b.counts()...)
		if l, lost := b.loss(); lost {
			r.Losses = append(r.Losses, l)
		}
	}
}
