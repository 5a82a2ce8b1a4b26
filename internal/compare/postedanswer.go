package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// postedAnswer says in words what posted figures bear: a sentence for each variant
// with a part for each test, and one for each figure that goes another way.
func (r *Report) postedAnswer() []string {
	var sentences []string
	for _, l := range r.Levels() {
		parts, ways := r.postedParts(l)
		if len(parts) == 0 {
			parts = []string{"no figures"}
		}
		sentences = append(sentences, r.Named(l)+": "+strings.Join(parts, "; ")+".")
		if len(ways[0]) > 0 && len(ways[1]) > 0 {
			sentences = append(sentences, fmt.Sprintf("They go opposite ways: for the better %s, for the worse %s.", list(ways[0]), list(ways[1])))
		}
	}
	if len(sentences) == 0 {
		return []string{"Nothing was compared."}
	}
	if slices.ContainsFunc(r.Warnings, func(w result.Warning) bool { return w.Code == oneRun.Code }) {
		sentences[0] = "One run each, so no verdict. " + sentences[0]
	}
	return sentences
}

// mostLeading is how many figures stand for a test that has none of its own to.
const mostLeading = 3

// leading are the rows that stand for their tests: and where a link's rate may have held
// those, what it cost.
func leading(rows []Comparison) []Comparison {
	count, held := map[string]int{}, map[string]bool{}
	for _, c := range rows {
		if c.Rank() == result.Headline {
			count[c.Test+c.Under] = -1
			held[c.Test+c.Under] = held[c.Test+c.Under] || c.pinned()
		}
	}
	var all []Comparison
	for _, c := range rows {
		switch n := count[c.Test+c.Under]; {
		case c.Rank() == result.Headline, held[c.Test+c.Under] && strings.HasPrefix(c.Metric, result.CPU):
			all = append(all, c)
		case n >= 0 && n < mostLeading && c.Rank() == result.Main:
			count[c.Test+c.Under]++
			all = append(all, c)
		}
	}
	return all
}

// postedParts are what is said of a level, and which figures go for the better and
// for the worse.
func (r *Report) postedParts(l Level) (parts []string, ways [2][]string) {
	rows := leading(l.Rows)
	var done []string
	for i := range rows {
		c := &rows[i]
		group := slices.DeleteFunc(slices.Clone(rows), func(o Comparison) bool {
			return baseOf(o.Of()) != baseOf(c.Of()) || o.Metric != c.Metric || o.End != c.End || o.pinned() != c.pinned() || o.lacks() != c.lacks()
		})
		name := baseOf(c.Of()) + " " + c.metricAt(l.Rows)
		if c.Under != "" {
			name += " with " + c.Under
		}
		if w := c.toward(); w != 0 && !c.pinned() {
			ways[way(w)] = appendOnce(ways[way(w)], name)
		}
		key := fmt.Sprint(baseOf(c.Of()), c.Metric, c.End, c.pinned(), c.lacks())
		switch {
		case len(group) <= fewRows:
			parts = append(parts, c.postedPart(l.Rows))
		case !slices.Contains(done, key):
			done = append(done, key)
			parts = append(parts, postedRange(group, l.Rows))
		}
	}
	return parts, ways
}

func way(toward int) int {
	if toward > 0 {
		return 0
	}
	return 1
}

func appendOnce(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// lacks says that there is no change to tell.
func (c *Comparison) lacks() bool { return c.DeltaPct == nil && c.Delta == nil }

// pinned says that a line may have held both sides.
func (c *Comparison) pinned() bool { return says(c.Warnings, postedLineRate) }

func says(warnings []result.Warning, code string) bool {
	return slices.ContainsFunc(warnings, func(w result.Warning) bool { return w.Code == code })
}

// toward is 1 where the change is for the better, -1 for the worse, and 0 where it is
// none or too small to matter.
func (c *Comparison) toward() int {
	est, _, _ := c.Shift()
	switch {
	case math.IsNaN(est) || math.Abs(est) < c.Margin || est == 0:
		return 0
	case (est < 0) == (c.Better == result.Lower):
		return 1
	}
	return -1
}

// postedPart is one figure in words: "ping size=56 rtt_mean x30.8 (181 us to 5.59
// ms), for the worse, and no value of one lies among the other's".
func (c *Comparison) postedPart(all []Comparison) string {
	text := c.Name() + " " + c.metricAt(all) + " "
	if c.lacks() {
		return text + c.sideText(c.A) + " against " + c.sideText(c.B)
	}
	from := fmt.Sprintf(" (%s to %s)", c.sideText(c.A), c.sideText(c.B))
	text += c.change() + from
	switch {
	case c.pinned():
		text += ", near a link's rate, which can't tell them apart"
	case c.Verdict != Unsure:
		text += ", " + string(c.Verdict)
	default:
		text += ", " + c.direction()
	}
	if s := c.Single; s != nil {
		text += ", " + s.text()
	}
	if says(c.Warnings, withinSpread) {
		text += ", within the values' own spread"
	}
	if but := c.otherway(all); but != "" {
		text += ", but " + but
	}
	return text
}

// metricAt is the row's metric, with its end where the test has it at both.
func (c *Comparison) metricAt(rows []Comparison) string {
	if c.End != "" && slices.ContainsFunc(rows, func(o Comparison) bool {
		return o.Of() == c.Of() && o.Under == c.Under && o.Metric == c.Metric && o.End != c.End
	}) {
		return c.Metric + " " + c.End
	}
	return c.Metric
}

// direction is toward in words.
func (c *Comparison) direction() string {
	est, _, _ := c.Shift()
	switch t := c.toward(); {
	case t > 0:
		return "for the better"
	case t < 0:
		return "for the worse"
	case est == 0:
		return "no change"
	case c.Scale == Percent:
		return fmt.Sprintf("less than %g%%", c.Margin)
	}
	return "too little to matter"
}

// sideText is one side's figure.
func (c *Comparison) sideText(s Summary) string {
	if s.Median == nil {
		return "no data"
	}
	return unit.Format(*s.Median, c.Unit)
}

// text says how far two sets of single values overlap.
func (s *Single) text() string {
	if s.Overlap == 0 {
		return "and the two sets of single values do not overlap"
	}
	return fmt.Sprintf("of whose single values %.0f%% lie within the range of the other set", 100*s.Overlap)
}

// otherway tells of what moved most the other way in the same test: a loss, or a
// figure that became more than twice or less than half.
func (c *Comparison) otherway(all []Comparison) string {
	most, text := math.Log(tailMoves), ""
	for i := range all {
		o := &all[i]
		if o.Of() != c.Of() || o.Under != c.Under || o.Rank() == result.Detail || o.Metric == result.Offered || o.Metric == c.Metric || o.toward() == 0 {
			continue
		}
		if o.toward() == c.toward() {
			continue
		}
		a, b := value(o.A.Median), value(o.B.Median)
		by := math.Abs(math.Log(b / a)) // infinite from zero
		if math.IsNaN(by) || by < most {
			continue
		}
		most = by
		if o.Scale == Percent {
			text = fmt.Sprintf("%s %s (%s to %s)", o.Metric, o.change(), o.sideText(o.A), o.sideText(o.B))
		} else {
			text = fmt.Sprintf("%s %s to %s", o.Metric, o.sideText(o.A), o.sideText(o.B))
		}
		text += ", " + o.direction()
	}
	return text
}

// postedRange is the changes of many tests of one name.
func postedRange(group, all []Comparison) string {
	c := &group[0]
	text := fmt.Sprintf("%s %s in %d tests ", baseOf(c.Of()), c.metricAt(all), len(group))
	if c.lacks() {
		return text + "no data on one side"
	}
	text += estimates(group)
	if c.pinned() {
		return text + ", near a link's rate, which can't tell them apart"
	}
	counts := map[string]int{}
	var order []string
	spread := 0
	for i := range group {
		d := group[i].direction()
		if group[i].Verdict != Unsure {
			d = string(group[i].Verdict)
		}
		if counts[d]++; counts[d] == 1 {
			order = append(order, d)
		}
		if says(group[i].Warnings, withinSpread) {
			spread++
		}
	}
	if len(order) == 1 {
		text += ", " + order[0]
	} else {
		var parts []string
		for _, d := range order {
			parts = append(parts, fmt.Sprintf("%d %s", counts[d], d))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	if spread > 0 {
		text += fmt.Sprintf(", %d within the values' own spread", spread)
	}
	return text
}
