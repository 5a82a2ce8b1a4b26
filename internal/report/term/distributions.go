package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/hist"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// spread is the round trips of a test under its variants.
type spread struct {
	name  string
	test  spec.Test
	order []string
	at    map[string]int // the variant's place among the report's
	all   map[string]*hist.Hist
}

// spreads are the round trips of all trials by test and variant, in the order of the
// report's tests. What variants set of a test is not told: it is one test.
func spreads(d *compare.Document) []*spread {
	varied := map[string][]string{}
	if d.Report != nil {
		for _, c := range d.Report.Comparisons {
			varied[c.Test] = c.Varied
		}
	}
	var all []*spread
	byName := map[string]*spread{}
	for _, o := range d.Trials() {
		h := o.Trial.Local.RTT
		if h == nil || h.Count() == 0 {
			continue
		}
		name := shared(o.Trial.Test, varied[o.Trial.Test.Name])
		if o.Under != "" {
			name += ", " + o.Under
		}
		s := byName[name]
		if s == nil {
			s = &spread{name: name, test: o.Trial.Test, at: map[string]int{}, all: map[string]*hist.Hist{}}
			byName[name] = s
			all = append(all, s)
		}
		if s.all[o.Variant] == nil {
			s.order, s.at[o.Variant], s.all[o.Variant] = append(s.order, o.Variant), o.At, hist.New()
		}
		s.all[o.Variant].Merge(h)
	}
	slices.SortStableFunc(all, func(a, b *spread) int {
		return cmp.Or(cmp.Compare(rankOf(a.test), rankOf(b.test)), cmp.Compare(a.test.RequestSize(), b.test.RequestSize()), strings.Compare(a.name, b.name))
	})
	return all
}

// rankOf is the test's place in the table of tests, as in a report's tables.
func rankOf(t spec.Test) int {
	return slices.IndexFunc(spec.Kinds(), func(k spec.Kind) bool { return k.Name == t.Name })
}

// shared is a test without the parameters that each variant has its own of.
func shared(t spec.Test, varied []string) string {
	fields := strings.Fields(t.String())
	kept := fields[:1]
	for _, f := range fields[1:] {
		name, _, _ := strings.Cut(f, "=")
		if !slices.Contains(varied, name) {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}

const (
	// mostSpreads is how many tests are drawn.
	mostSpreads = 12
	// shortestBars and longestBars are columns of a histogram.
	shortestBars, longestBars = 16, 64
	longestVariant            = 24
	// roomForBoth is the least width of a histogram that has the shares beside it.
	roomForBoth = 40
	// The ends of the axis are these quantiles, so that one long round trip does not
	// push all others together.
	axisFrom, axisTo = 0.001, 0.999
)

// distributions draws the round trips of each test: a line a variant, all of a test on
// one axis, so that what moved and what became wider shows.
func (p *page) distributions(d *compare.Document) {
	all := spreads(d)
	if len(all) == 0 {
		return
	}
	names := 0
	for _, s := range all {
		for _, v := range s.order {
			names = max(names, min(width(p.look.clean(v)), longestVariant))
		}
	}
	const figures = 26 // of p50 and p99
	wide := min(longestBars, p.look.Width-names-figures-6)
	numbers := wide >= shortestBars
	if !numbers {
		wide = p.look.Width - names - 4
	}
	title := "Round trips of all trials: how many took how long, on an axis of logarithms"
	both := (p.look.Width - names - figures - 8) / 2
	if both >= roomForBoth {
		wide = min(both, longestBars)
		title += "; on the right, which share took no longer"
	}
	var lines []string
	for _, line := range p.wrap(title, "", "  ") {
		lines = append(lines, p.look.title(line))
	}
	for _, s := range all[:min(mostSpreads, len(all))] {
		lines = append(lines, p.spread(s, names, wide, numbers, both >= roomForBoth)...)
	}
	if more := len(all) - mostSpreads; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", unit.Count(more, "test")))
	}
	p.add(lines...)
}

func (p *page) spread(s *spread, names, wide int, numbers, both bool) []string {
	whole := hist.New()
	for _, v := range s.order {
		whole.Merge(s.all[v])
	}
	lo, hi := max(whole.Quantile(axisFrom), 1), whole.Quantile(axisTo)
	for _, v := range s.order { // of each variant, or a rare one would not be on it
		lo, hi = min(lo, max(s.all[v].Quantile(axisFrom), 1)), max(hi, s.all[v].Quantile(axisTo))
	}
	lo, hi = lo*0.97, hi*1.03
	lines := []string{clip(p.look.clean(s.name), p.look.Width)}
	places := map[int]string{}
	last := 0
	for _, v := range s.order {
		places[s.at[v]] = v
		last = max(last, s.at[v])
	}
	for at := range last + 1 {
		v, there := places[at]
		if !there {
			continue
		}
		name := clip(p.look.clean(v), names)
		line := "  " + p.look.variant(at, name) + strings.Repeat(" ", names-width(name)+2) + p.look.variant(at, Histogram(s.all[v], lo, hi, wide))
		if both {
			line += "  " + p.look.variant(at, ECDF(s.all[v], lo, hi, wide))
		}
		if numbers {
			line += fmt.Sprintf("  p50 %-8s p99 %s", unit.Format(s.all[v].Quantile(0.5), unit.Nanoseconds), unit.Format(s.all[v].Quantile(0.99), unit.Nanoseconds))
		}
		lines = append(lines, line)
	}
	from, to := unit.Format(lo, unit.Nanoseconds), unit.Format(hi, unit.Nanoseconds)
	rule := strings.Repeat("─", max(1, wide-width(from)-width(to)-2))
	axis := p.look.quiet(clip(from+" "+rule+" "+to, wide))
	if both {
		axis += "  " + axis
	}
	return append(lines, strings.Repeat(" ", names+4)+axis)
}
