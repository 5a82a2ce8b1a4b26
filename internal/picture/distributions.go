package picture

import (
	"math"
	"slices"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// most is how many points a series has at most.
const most = 600

// samples are round trips, with how often each occurred, from short to long.
type samples struct {
	ns    []float64
	count []float64
	total float64
}

// roundTrips are those of a variant's trials, all together; of an import those that
// were printed one by one.
func roundTrips(trials []compare.Of) samples {
	all := hist.New()
	var single []float64
	for _, o := range trials {
		all.Merge(o.Trial.Local.RTT)
		if m := o.Trial.Imported; m != nil {
			for _, name := range []string{result.RTTMean, result.HalfRTTMean} {
				if f := m.Figure(result.Taken{Name: name, End: result.Local}); f != nil {
					single = append(single, f.Values...)
				}
			}
		}
	}
	var s samples
	if len(single) > 0 {
		slices.Sort(single)
		for _, v := range single {
			s.add(v, 1)
		}
		return s
	}
	for b, n := range all.Buckets() {
		s.add(float64(min(b.High, all.Max())), float64(n))
	}
	return s
}

func (s *samples) add(ns, n float64) {
	if k := len(s.ns); k > 0 && s.ns[k-1] == ns {
		s.count[k-1] += n
	} else {
		s.ns, s.count = append(s.ns, ns), append(s.count, n)
	}
	s.total += n
}

// quantile is the value of the sample that a share of all do not exceed.
func (s *samples) quantile(q float64) float64 {
	want, seen := math.Ceil(q*s.total), 0.0
	for i, n := range s.count {
		if seen += n; seen >= want {
			return s.ns[i]
		}
	}
	return s.ns[len(s.ns)-1]
}

// distributions are how long round trips took: which share no longer than what, and
// the same by percentile, where the tail shows.
func distributions(d *compare.Document) []Figure {
	var all []Figure
	trials, names := groups(d)
	for _, g := range trials {
		ecdf := Figure{Name: nameOf("ecdf", g.test, g.under), Kind: Lines, Title: titled("Round trips: "+g.test, g.under),
			About: "The share of round trips that took no longer than that, of all trials of a variant together. A curve to the left is shorter.",
			X:     Axis{Label: "round trip", Log: true}, Y: Axis{Label: "share", Unit: "%"}}
		tail := Figure{Name: nameOf("percentiles", g.test, g.under), Kind: Lines, Title: titled("Percentiles: "+g.test, g.under),
			About: "The round trip that a share of all do not exceed, as far as there are ten beyond it. The tail is to the right.",
			X:     Axis{Label: "percentile", Log: true}, Y: Axis{Label: "round trip", Log: true}}
		sets := make([]samples, len(g.variants))
		var medians []float64
		for v, trials := range g.variants {
			if sets[v] = roundTrips(trials); sets[v].total > 1 {
				medians = append(medians, sets[v].quantile(0.5))
			}
		}
		if len(medians) == 0 {
			continue
		}
		div, in := unit.Scale(unit.Nanoseconds, medians...)
		ecdf.X.Unit, tail.Y.Unit = in, in
		furthest := 0.0
		for v := range sets {
			if sets[v].total <= 1 {
				continue
			}
			name := variantName(names, v)
			ecdf.Series = append(ecdf.Series, sets[v].ecdf(name, v, div))
			t := sets[v].percentiles(name, v, div)
			tail.Series = append(tail.Series, t)
			furthest = max(furthest, t.X[len(t.X)-1])
		}
		tail.X.Ticks, tail.X.Categories = percentileTicks(furthest)
		all = append(all, ecdf)
		if furthest >= 10 {
			all = append(all, tail)
		}
	}
	return all
}

// ecdf is the curve of shares, in steps.
func (s *samples) ecdf(name string, at int, div float64) Series {
	x := Series{Name: name, Variant: at, Step: true}
	seen, last := 0.0, -1.0
	for i, n := range s.count {
		seen += n
		share := 100 * seen / s.total
		// In the middle thinned evenly, at both ends every point.
		if len(s.ns) > most && share-last < 100.0/most && share > 0.5 && share < 99.5 {
			continue
		}
		last = share
		x.X, x.Y = append(x.X, s.ns[i]/div), append(x.Y, share)
	}
	return x
}

// percentiles is the curve of quantiles over 1/(1-p), on whose logarithm each nine takes
// as much room as the one before.
func (s *samples) percentiles(name string, at int, div float64) Series {
	x := Series{Name: name, Variant: at}
	furthest := max(1.01, s.total/10)
	if s.total < 20 {
		furthest = max(2, s.total)
	}
	const steps = 200
	for i := range steps + 1 {
		over := math.Pow(furthest, float64(i)/steps)
		x.X, x.Y = append(x.X, over), append(x.Y, s.quantile(1-1/over)/div)
	}
	return x
}

// percentileTicks are the percentiles that are named on the axis of 1/(1-p).
func percentileTicks(furthest float64) (at []float64, names []string) {
	for _, t := range []struct {
		at   float64
		name string
	}{{1, "min"}, {2, "50"}, {4, "75"}, {10, "90"}, {100, "99"}, {1e3, "99.9"}, {1e4, "99.99"}, {1e5, "99.999"}, {1e6, "99.9999"}} {
		if t.at <= furthest*1.01 {
			at, names = append(at, t.at), append(names, t.name)
		}
	}
	return at, names
}
