package stages

import (
	"cmp"
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// level is that of all intervals.
const level = 0.95

// Of is one trial, by what a report calls its variant.
type Of struct {
	Variant string
	// At is the variant's place among the report's, 0 for the baseline.
	At    int
	Under string // conditions; empty for none
	Trial *result.Trial
}

// Table is where the time of one test's round trips goes under each variant.
type Table struct {
	Test   string      `json:"test"`
	Params spec.Params `json:"params"`
	Under  string      `json:"under,omitempty"`
	// By is what told: result.SeenByBPF and so on.
	By string `json:"by"`
	// Stages are in the order of the way, what could not be attributed is the last.
	Stages   []Stage   `json:"stages"`
	Variants []Variant `json:"variants"`
	// Changes are from the first variant to each other one.
	Changes []Change `json:"changes,omitempty"`
}

// TestOf is the test as it is without being watched.
func (t *Table) TestOf() spec.Test { return spec.Test{Name: t.Test, Params: t.Params} }

// Variant is where the time goes under one variant. PartsNS has the time of each stage
// and adds up to TotalNS: the mean of the middle half of each trial's watched round
// trips, of the middle half of the trials.
type Variant struct {
	Name    string    `json:"variant"`
	Trials  int       `json:"trials"`
	Watched int       `json:"watched"` // round trips
	Every   int64     `json:"every"`   // one in so many was watched, at the most
	Alone   int       `json:"alone,omitempty"`
	Lost    int64     `json:"lost,omitempty"` // events
	TotalNS float64   `json:"total_ns"`
	PartsNS []float64 `json:"parts_ns"`
	// Cost is how much longer the median round trip is in windows in which some are
	// watched than in those of the same block in which none is; Own how much longer the
	// watched ones themselves are. In percent.
	Cost Shift `json:"cost_pct"`
	Own  Shift `json:"own_cost_pct"`
	// Clock is how the hosts' clocks stood to each other, of the trial in which that was
	// known the best; null where both ends have one clock.
	Clock   *Clock        `json:"clock,omitempty"`
	Clocks  []result.Fact `json:"clocks,omitempty"` // how each host's clock is kept
	Missing []result.Fact `json:"missing,omitempty"`
	// InterfacesNS is the time between the two interfaces, both ways together, by their
	// own stamps; null where they make none.
	InterfacesNS *float64 `json:"interfaces_ns,omitempty"`
	Slow         []Slow   `json:"slow,omitempty"`
}

// Shift is a change with its interval; null where there are too few trials for one.
type Shift struct {
	Est *float64 `json:"est"`
	Lo  *float64 `json:"lo,omitempty"`
	Hi  *float64 `json:"hi,omitempty"`
}

// Sure says that the interval is on one side of zero.
func (s *Shift) Sure() bool { return s.Lo != nil && s.Hi != nil && (*s.Lo > 0 || *s.Hi < 0) }

// Change is what differs between two variants. Parts are in ns, one for each stage;
// Shares what of the whole change each has, in percent, which add up to 100: null
// where it is not sure that the whole has changed at all.
type Change struct {
	Baseline string     `json:"baseline"`
	Variant  string     `json:"variant"`
	Paired   bool       `json:"paired"`
	N        int        `json:"n"` // blocks, or trials of the smaller side
	Total    Shift      `json:"total_ns"`
	Pct      float64    `json:"total_pct"` // of the baseline's
	Parts    []Shift    `json:"parts_ns"`
	Shares   []*float64 `json:"shares_pct"`
	// MeansNS are what the shares are of: the mean changes over the middle half of the
	// blocks, which add up to that of the whole, as medians do not.
	MeansNS []float64 `json:"means_ns"`
}

// one is a trial that was watched, and its figures.
type one struct {
	block int
	read  *Trial
	trial *result.Trial
	total float64
	parts []float64
}

// rank is a test's place in the table of tests.
func rank(t spec.Test) int {
	return slices.IndexFunc(spec.Kinds(), func(k spec.Kind) bool { return k.Name == t.Name })
}

// Build makes a table of each test that was watched, in the order of tests; paired
// says that trials of one block belong together.
func Build(all []Of, paired bool) []Table {
	type group struct {
		test     spec.Test
		under    string
		names    []string
		watched  [][]*one
		unwached [][]*result.Trial
	}
	var groups []*group
	for _, o := range all {
		test := o.Trial.Test.Unwatched()
		i := slices.IndexFunc(groups, func(g *group) bool { return g.test == test && g.under == o.Under })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{test: test, under: o.Under})
		}
		g := groups[i]
		for len(g.names) <= o.At {
			g.names, g.watched, g.unwached = append(g.names, ""), append(g.watched, nil), append(g.unwached, nil)
		}
		g.names[o.At] = o.Variant
		if !o.Trial.Test.Watched() {
			g.unwached[o.At] = append(g.unwached[o.At], o.Trial)
		} else if read := Read(o.Trial); read != nil {
			g.watched[o.At] = append(g.watched[o.At], &one{block: o.Trial.Block, read: read, trial: o.Trial})
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(rank(a.test), rank(b.test)), cmp.Compare(a.test.RequestSize(), b.test.RequestSize()),
			result.Natural(a.test.String(), b.test.String()), result.Natural(a.under, b.under))
	})
	var tables []Table
	for _, g := range groups {
		if t, ok := tableOf(g.watched); ok {
			t.Test, t.Params, t.Under = g.test.Name, g.test.Params, g.under
			for i := range g.watched {
				if len(g.watched[i]) > 0 {
					t.Variants = append(t.Variants, variantOf(g.names[i], &t, g.watched[i], g.unwached[i], paired))
				}
			}
			for i := 1; i < len(g.watched); i++ {
				if len(g.watched[0]) > 0 && len(g.watched[i]) > 0 {
					t.Changes = append(t.Changes, changeOf(g.names[0], g.names[i], g.watched[0], g.watched[i], paired))
				}
			}
			tables = append(tables, t)
		}
	}
	return tables
}

// tableOf divides all trials of a test in the same way.
func tableOf(variants [][]*one) (t Table, ok bool) {
	var taken Taken
	for _, v := range variants {
		for _, o := range v {
			if !ok {
				taken, t.By, ok = o.read.taken, o.read.By, true
				continue
			}
			taken = taken.both(o.read.taken)
			if o.read.By != t.By {
				t.By = "several sources"
			}
		}
	}
	if !ok {
		return t, false
	}
	t.Stages = stagesOf(&taken)
	for _, v := range variants {
		for _, o := range v {
			o.parts, o.total = o.read.means(&taken, t.Stages)
		}
	}
	return t, true
}

// middleHalf is the mean of each part over the middle half by their totals.
func middleHalf(all [][]float64, totals []float64) (parts []float64, total float64) {
	order := make([]int, len(totals))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(totals[a], totals[b]) })
	cut := len(order) / 4
	order = order[cut : len(order)-cut]
	parts = make([]float64, len(all[0]))
	for _, i := range order {
		for k, v := range all[i] {
			parts[k] += v / float64(len(order))
		}
		total += totals[i] / float64(len(order))
	}
	return parts, total
}

func variantOf(name string, t *Table, watched []*one, plain []*result.Trial, paired bool) Variant {
	v := Variant{Name: name, Trials: len(watched)}
	var all [][]float64
	var totals []float64
	for _, o := range watched {
		v.Watched += o.read.Watched
		v.Alone += o.read.Alone
		v.Lost += o.read.Lost
		seen := o.trial.Local.Seen
		v.Every = max(v.Every, seen.Every)
		if c := o.read.Clock; c != nil && (v.Clock == nil || c.Error < v.Clock.Error) {
			v.Clock = c
		}
		v.Missing = facts(v.Missing, seen.Missing, "")
		if far := o.trial.Remote; far != nil && far.Seen != nil {
			v.Missing = facts(v.Missing, far.Seen.Missing, "")
			if !seen.OneClock && len(v.Clocks) == 0 {
				v.Clocks = facts(facts(nil, seen.Clock, "local "), far.Seen.Clock, "remote ")
			}
		}
		all, totals = append(all, o.parts), append(totals, o.total)
	}
	v.PartsNS, v.TotalNS = middleHalf(all, totals)
	var outside []float64
	for _, o := range watched {
		if ns := o.read.outside(); ns != nil {
			outside = append(outside, *ns)
		}
	}
	if m := stats.Median(outside); len(outside) > 0 {
		v.InterfacesNS = &m
	}
	v.Cost, v.Own = costs(watched, plain, paired)
	v.Slow = slowest(t, watched)
	return v
}

// facts adds those that are not there yet.
func facts(all, more []result.Fact, whose string) []result.Fact {
	for _, f := range more {
		f.Name = whose + f.Name
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// costs compares windows in which round trips are watched with those in which none is.
func costs(watched []*one, plain []*result.Trial, paired bool) (cost, own Shift) {
	var a, b, c []float64 // logarithms: plain, watched, the watched ones themselves
	var da, dc []float64  // differences
	for _, p := range plain {
		if p.Local.RTT == nil || p.Local.RTT.Count() == 0 {
			continue
		}
		a = append(a, math.Log(max(1, p.Local.RTT.Quantile(0.5))))
		for _, o := range watched {
			if o.block == p.Block && o.trial.Local.RTT != nil && o.trial.Local.RTT.Count() > 0 {
				da = append(da, math.Log(max(1, o.trial.Local.RTT.Quantile(0.5)))-a[len(a)-1])
				dc = append(dc, math.Log(max(1, o.total))-a[len(a)-1])
			}
		}
	}
	for _, o := range watched {
		if o.trial.Local.RTT != nil && o.trial.Local.RTT.Count() > 0 {
			b, c = append(b, math.Log(max(1, o.trial.Local.RTT.Quantile(0.5)))), append(c, math.Log(max(1, o.total)))
		}
	}
	percent := func(s Shift) Shift {
		for _, p := range []*float64{s.Est, s.Lo, s.Hi} {
			if p != nil {
				*p = 100 * math.Expm1(*p)
			}
		}
		return s
	}
	if paired {
		return percent(shift(stats.SignedRank(da, level))), percent(shift(stats.SignedRank(dc, level)))
	}
	return percent(shift(stats.Shift(a, b, level))), percent(shift(stats.Shift(a, c, level)))
}

func shift(i stats.Interval) Shift {
	if math.IsNaN(i.Est) {
		return Shift{}
	}
	s := Shift{Est: &i.Est}
	if i.Level >= level-1e-9 {
		s.Lo, s.Hi = &i.Lo, &i.Hi
	}
	return s
}

func changeOf(from, to string, a, b []*one, paired bool) Change {
	c := Change{Baseline: from, Variant: to, Paired: paired, MeansNS: make([]float64, len(a[0].parts)), Parts: make([]Shift, len(a[0].parts)), Shares: make([]*float64, len(a[0].parts))}
	base := 0.0
	var whole float64
	var mean []float64
	if paired {
		var all [][]float64
		var totals []float64
		for _, x := range a {
			for _, y := range b {
				if x.block == y.block {
					d := make([]float64, len(x.parts))
					for k := range d {
						d[k] = y.parts[k] - x.parts[k]
					}
					all, totals = append(all, d), append(totals, y.total-x.total)
					base += x.total
				}
			}
		}
		if c.N = len(totals); c.N == 0 {
			return c
		}
		base /= float64(c.N)
		mean, whole = middleHalf(all, totals)
		c.Total = shift(stats.SignedRank(totals, level))
		for k := range c.Parts {
			c.Parts[k] = shift(stats.SignedRank(column(all, k), level))
		}
	} else {
		pa, ta := partsOf(a)
		pb, tb := partsOf(b)
		c.N = min(len(ta), len(tb))
		ma, wa := middleHalf(pa, ta)
		mb, wb := middleHalf(pb, tb)
		mean, whole, base = make([]float64, len(ma)), wb-wa, wa
		for k := range mean {
			mean[k] = mb[k] - ma[k]
			c.Parts[k] = shift(stats.Shift(column(pa, k), column(pb, k), level))
		}
		c.Total = shift(stats.Shift(ta, tb, level))
	}
	c.MeansNS = mean
	if base > 0 {
		c.Pct = 100 * whole / base
	}
	if c.Total.Lo != nil && !c.Total.Sure() || whole == 0 {
		return c
	}
	for k := range mean {
		share := 100 * mean[k] / whole
		c.Shares[k] = &share
	}
	return c
}

func partsOf(all []*one) (parts [][]float64, totals []float64) {
	for _, o := range all {
		parts, totals = append(parts, o.parts), append(totals, o.total)
	}
	return parts, totals
}

func column(rows [][]float64, k int) []float64 {
	c := make([]float64, len(rows))
	for i := range rows {
		c[i] = rows[i][k]
	}
	return c
}
