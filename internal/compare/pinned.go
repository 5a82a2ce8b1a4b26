package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// heldIn says what held a figure in nearly all trials of both sides. It is nil
// where nothing did, and where the sides were held at different limits: then
// throughput tells them apart.
func heldIn(metric result.Taken, sides ...[]*cell) *result.Held {
	if metric.Name != result.Goodput {
		return nil
	}
	var held []*result.Held
	for _, trials := range sides {
		var all []*result.Held
		for _, c := range trials {
			all = append(all, c.held[metric.End])
		}
		held = append(held, result.HeldIn(all))
	}
	for _, h := range held {
		if !h.Like(held[0]) {
			return nil
		}
	}
	return held[0]
}

// heldOf is what held a trial's goodput, by the end that received it.
func heldOf(x *result.Trial) map[string]*result.Held {
	held := map[string]*result.Held{}
	for _, end := range []string{result.Local, result.Remote} {
		if h := x.Held(end); h != nil {
			held[end] = h
		}
	}
	return held
}

// costs are the metrics that tell variants apart where throughput can't, the
// one to prefer first.
var costs = []string{result.CPUPerByte, result.CPUSoakPerByte, result.CyclesPerByte}

// pinned is rows of one test whose throughput the same thing held, with what
// they cost.
type pinned struct {
	rows []Comparison
	cost [][]Comparison // by end, local first
	but  string         // what another main metric says
	// unders are the report's conditions, nil for none.
	unders []string
}

// pinnedOf are the rows of which throughput can't tell, put together by test
// and by what held them where there are many.
func pinnedOf(rows []Comparison, unders []string) []pinned {
	var all []pinned
	for _, c := range rows {
		if c.Held == nil || c.Rank() != result.Headline {
			continue
		}
		i := slices.IndexFunc(all, func(p pinned) bool {
			o := p.rows[0]
			return o.Test == c.Test && *o.Held == *c.Held && o.End == c.End
		})
		if i < 0 {
			i = len(all)
			all = append(all, pinned{})
		}
		all[i].rows = append(all[i].rows, c)
	}
	// Few are told one by one.
	var told []pinned
	for _, p := range all {
		if len(p.rows) > fewRows {
			told = append(told, p)
			continue
		}
		for _, c := range p.rows {
			told = append(told, pinned{rows: []Comparison{c}})
		}
	}
	for i := range told {
		told[i].unders = unders
		told[i].cost = costOf(told[i].rows, rows)
		told[i].but = beside(told[i].rows, rows)
	}
	return told
}

// beside tells of the first main metric of the tests, throughput among them,
// that is better or worse and no cost.
func beside(of, rows []Comparison) string {
	for _, o := range of {
		for _, c := range rows {
			if o.Of() != c.Of() || o.Under != c.Under || c.Rank() == result.Detail || c.Metric == result.Offered || slices.Contains(costs, c.Metric) {
				continue
			}
			if c.Verdict == Better || c.Verdict == Worse {
				return fmt.Sprintf("%s %s, %s", shortMetric(c.Metric), c.change(), c.Verdict)
			}
		}
	}
	return ""
}

// costOf is what the tests of some rows cost at each end, by the first metric
// of cost that was measured.
func costOf(of, rows []Comparison) [][]Comparison {
	for _, metric := range costs {
		var ends [][]Comparison
		for _, end := range []string{result.Local, result.Remote} {
			var at []Comparison
			for _, c := range rows {
				about := slices.ContainsFunc(of, func(o Comparison) bool { return o.Of() == c.Of() && o.Under == c.Under })
				if about && c.Metric == metric && c.End == end && (c.DeltaPct != nil || c.Delta != nil) {
					at = append(at, c)
				}
			}
			if len(at) > 0 {
				ends = append(ends, at)
			}
		}
		if len(ends) > 0 {
			return ends
		}
	}
	return nil
}

// text says what held throughput and what the cost says instead: "tcp_stream
// throughput is held by the link (940 of 1000 Mbit/s), so cost decides:
// cpu_per_byte local -23% (-25 to -20), better, remote same".
func (p *pinned) text(withVerdict bool) string {
	first := &p.rows[0]
	name := first.Name() + " throughput"
	if len(p.rows) > 1 {
		s := saying{rows: p.rows, unders: p.unders}
		name = first.Test + " throughput " + s.where()
	}
	text := name + " is " + p.heldBy()
	if len(p.cost) == 0 {
		return text + " and can't tell, and what it cost was not measured"
	}
	var ends []string
	for i, rows := range p.cost {
		metric := ""
		if i == 0 {
			metric = rows[0].Metric + " "
		}
		ends = append(ends, metric+rows[0].End+costText(rows, withVerdict))
	}
	text += ", so cost decides: " + strings.Join(ends, ", ")
	if p.but != "" && withVerdict {
		text += ", but " + p.but
	}
	return text
}

// heldBy says what held the rows: by which name, at how much.
func (p *pinned) heldBy() string {
	h := p.rows[0].Held
	if h.By != result.HeldByLink {
		return fmt.Sprintf("held by %s (%s)", h.By, unit.Format(h.Limit, unit.BitsPerSecond))
	}
	got := math.NaN()
	for _, c := range p.rows {
		for _, v := range []*float64{c.A.Median, c.B.Median} {
			if v != nil && !(got <= *v) {
				got = *v // the least
			}
		}
	}
	div, label := unit.Scale(unit.BitsPerSecond, got)
	return fmt.Sprintf("held by the link (%s of %s %s)", unit.FormatIn(got, div), unit.FormatIn(h.Limit, div), label)
}

// costText is what rows of cost say: the one, or the range of several with how
// many have which verdict.
func costText(rows []Comparison, withVerdict bool) string {
	if c := &rows[0]; len(rows) == 1 {
		switch {
		case c.Verdict == Same:
			return " same"
		case withVerdict:
			return fmt.Sprintf(" %s, %s", c.change(), c.Verdict)
		}
		return " " + c.change()
	}
	text := " " + estimates(rows)
	if !withVerdict {
		return text
	}
	var counts []string
	for _, v := range []Verdict{Better, Worse, Same, Unsure} {
		n := 0
		for _, c := range rows {
			if c.Verdict == v {
				n++
			}
		}
		switch {
		case n == len(rows):
			return text + ", " + string(v)
		case n > 0:
			counts = append(counts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return text + " (" + strings.Join(counts, ", ") + ")"
}
