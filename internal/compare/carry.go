package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// carried is the figure that stands for one test, made ready for the question
// whether a trial's depends on what ran before it: of each variant in each block
// how far it lies from its variant's mean and its block's.
type carried struct {
	headline
	name  string // the test's, with its conditions
	scale Scale
	// residuals are by variant and block: NaN in blocks that are not whole, and for
	// variants under other conditions, which have series of their own.
	residuals [][]float64
	spread    float64 // their standard deviation
}

// after is one variant right after another in a block, against the same variant
// after any other; with two variants, against the same as the block's first.
type after struct {
	series, variant, before int
	change                  float64 // on the series' scale
	size                    float64 // in standard errors, roughly
}

// carryOver looks for what a variant leaves behind for the next in its block.
//
// The order within each block was drawn at random, so where nothing is left
// behind any other order could have gone with the same figures. Orders are drawn
// anew as the schedule draws them, and the largest statistic of all figures and
// pairs of variants is compared with what these orders give: that is one test
// for the whole report, at serialLevel. The order is that of all variants: under
// conditions, too, one runs right after any other.
func (g *grid) carryOver(parts []*grid) *result.Warning {
	orders := g.orders()
	var series []carried
	for _, p := range parts {
		series = append(series, p.carried(orders, len(g.variants))...)
	}
	if len(series) == 0 || len(orders) < spec.MinBlocks {
		return nil
	}
	found := new(pairing).afters(series, orders, len(g.variants))
	if len(found) == 0 {
		return nil
	}
	top := slices.MaxFunc(found, bySize).size
	plots := g.plots()
	rng := rand.New(rand.NewPCG(g.plan.Seed, 0x63617272796f7665))
	fresh := make([]blockOrder, len(orders))
	var scratch pairing
	var largest []float64
	allowed := int(serialLevel * permutations)
	for draws := 1; draws < permutations; draws++ {
		for i, o := range orders {
			fresh[i] = blockOrder{o.block, drawn(rng, plots, fresh[i].variants[:0])}
		}
		most := 0.0
		for _, a := range scratch.afters(series, fresh, len(g.variants)) {
			most = max(most, a.size)
		}
		if most >= top-negligible {
			if allowed--; allowed <= 0 {
				return nil
			}
		}
		largest = append(largest, most)
	}
	slices.Sort(largest)
	critical := largest[int((1-serialLevel)*float64(len(largest)))]
	found = slices.DeleteFunc(found, func(a after) bool { return a.size <= critical })
	slices.SortFunc(found, func(a, b after) int { return bySize(b, a) })
	return g.carryWarning(series, found)
}

func bySize(a, b after) int {
	switch {
	case a.size < b.size:
		return -1
	case a.size > b.size:
		return 1
	}
	return 0
}

// blockOrder is the variants of a block in the order in which they ran.
type blockOrder struct {
	block    int
	variants []int
}

// orders are those of all whole blocks; blocks of which they are not known, as in
// an import, are left out.
func (g *grid) orders() []blockOrder {
	var all []blockOrder
	for b := range g.plan.Blocks {
		first := make([]int, len(g.variants)) // each variant's first trial
		var order []int
		for v := range g.variants {
			first[v] = math.MaxInt
			for t := range g.cells {
				if c := g.cells[t][v][b]; c != nil {
					first[v] = min(first[v], c.order)
				}
			}
			if first[v] < math.MaxInt {
				order = append(order, v)
			}
		}
		slices.SortFunc(order, func(x, y int) int { return first[x] - first[y] })
		known := len(order) == len(g.variants)
		for i := 1; i < len(order); i++ {
			known = known && first[order[i-1]] < first[order[i]]
		}
		if known {
			all = append(all, blockOrder{b, order})
		}
	}
	return all
}

// plots are the variants that run together in a block: those with the same
// levels of all slow factors.
func (g *grid) plots() [][]int {
	var slow []spec.Factor
	for _, f := range g.plan.Factors {
		if f.Slow {
			slow = append(slow, f)
		}
	}
	var keys []string
	var plots [][]int
	for v := range g.variants {
		key := g.variants[v].Key(slow)
		i := slices.Index(keys, key)
		if i < 0 {
			i = len(keys)
			keys, plots = append(keys, key), append(plots, nil)
		}
		plots[i] = append(plots[i], v)
	}
	return plots
}

// drawn is an order of one block as a schedule draws it: plots in random order,
// and so the variants within each.
func drawn(rng *rand.Rand, plots [][]int, into []int) []int {
	for _, p := range rng.Perm(len(plots)) {
		for _, v := range rng.Perm(len(plots[p])) {
			into = append(into, plots[p][v])
		}
	}
	return into
}

// carried makes the figures of whole blocks ready, by the places of variants among
// all that are run.
func (g *grid) carried(orders []blockOrder, variants int) []carried {
	var all []carried
	known := make([]bool, g.plan.Blocks)
	for _, o := range orders {
		known[o.block] = true
	}
	for _, h := range g.headlines() {
		scale, l := g.link(h)
		y := g.linked(h, l)
		for b := range g.plan.Blocks {
			whole := known[b]
			for v := range y {
				whole = whole && !math.IsNaN(y[v][b])
			}
			for v := range y {
				if !whole {
					y[v][b] = math.NaN()
				}
			}
		}
		for v := range y {
			mean, _ := average(y[v])
			for b := range y[v] {
				y[v][b] -= mean
			}
		}
		squares, n := 0.0, 0
		for b := range g.plan.Blocks {
			mean := 0.0
			for v := range y {
				mean += y[v][b] / float64(len(y))
			}
			for v := range y {
				if y[v][b] -= mean; !math.IsNaN(y[v][b]) {
					squares += y[v][b] * y[v][b]
					n++
				}
			}
		}
		if n > 0 && squares > 0 {
			all = append(all, carried{h, g.called(h.test), scale, g.spreadOut(y, variants), math.Sqrt(squares / float64(n))})
		}
	}
	return all
}

// called is a test in short, with its conditions.
func (g *grid) called(test int) string {
	of := g.plan.Tests[test]
	d := Drift{Test: of.Name, Params: of.Params, Varied: variedIn(g.plan, of), Under: g.condition}
	return d.Name()
}

// spreadOut puts what is by the part's variants in their places among all; NaN where
// the others are.
func (g *grid) spreadOut(y [][]float64, variants int) [][]float64 {
	all := make([][]float64, variants)
	for v := range all {
		all[v] = slices.Repeat([]float64{math.NaN()}, g.plan.Blocks)
	}
	for v := range y {
		all[g.at[v]] = y[v]
	}
	return all
}

// pairing adds up residuals; it is used again for each order, since there are
// many.
type pairing struct {
	pairs  []tallied // by what ran before and the variant
	others []tallied // the variant after anything, or as the first
	all    []after
}

type tallied struct {
	total float64
	n     int
}

func (t *tallied) add(v float64) {
	t.total += v
	t.n++
}

// afters has the statistic of every pair of variants that the orders have one
// after the other in two blocks or more. It is valid until the next call.
func (p *pairing) afters(series []carried, orders []blockOrder, variants int) []after {
	p.pairs = slices.Grow(p.pairs[:0], variants*variants)[:variants*variants]
	p.others = slices.Grow(p.others[:0], variants)[:variants]
	p.all = p.all[:0]
	for s := range series {
		x := &series[s]
		clear(p.pairs)
		clear(p.others)
		for _, o := range orders {
			for i, v := range o.variants {
				r := x.residuals[v][o.block]
				if math.IsNaN(r) {
					continue
				}
				if (i == 0) == (variants == 2) {
					p.others[v].add(r)
				}
				if i > 0 {
					p.pairs[o.variants[i-1]*variants+v].add(r)
				}
			}
		}
		for at, pair := range p.pairs {
			u, v := at/variants, at%variants
			other := p.others[v]
			if variants > 2 {
				other.total -= pair.total
				other.n -= pair.n
			}
			if pair.n < 2 || other.n < 2 {
				continue
			}
			change := pair.total/float64(pair.n) - other.total/float64(other.n)
			weight := float64(pair.n) * float64(other.n) / float64(pair.n+other.n)
			p.all = append(p.all, after{s, v, u, change, math.Abs(change) / x.spread * math.Sqrt(weight)})
		}
	}
	return p.all
}

// mostCarried is how many pairs of variants a warning names.
const mostCarried = 3

func (g *grid) carryWarning(series []carried, found []after) *result.Warning {
	if len(found) == 0 {
		return nil
	}
	var parts []string
	for _, a := range found[:min(mostCarried, len(found))] {
		x := &series[a.series]
		amount := unit.Format(a.change, x.Unit)
		if x.scale == Percent {
			amount = signed(relative(100*math.Expm1(a.change))) + "%"
		}
		against := "after others"
		if len(g.variants) == 2 {
			against = "first in a block"
		}
		parts = append(parts, fmt.Sprintf("%s %s of %s is %s right after %s, against %s",
			x.name, x.Name, g.named(a.variant), amount, g.named(a.before), against))
	}
	text := "what ran before in a block matters: " + list(parts)
	if len(g.variants) == 2 {
		text = "what ran before in a block matters, or which place a trial has there, which can't be told apart with two variants: " + list(parts)
	}
	if more := len(found) - mostCarried; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return &result.Warning{Code: "carry-over", Text: text, Advice: "a longer warm-up (--warmup), so that what a variant leaves behind is gone"}
}
