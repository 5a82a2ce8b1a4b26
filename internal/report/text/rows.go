package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// block is a titled table.
type block struct {
	title string
	table
}

// sections lays tables of one shape out alike, a section each. A table with
// no row is left out.
func sections(blocks []block) [][]string {
	blocks = slices.DeleteFunc(blocks, func(b block) bool { return len(b.rows) == 0 })
	tables := make([]*table, len(blocks))
	for i := range blocks {
		tables[i] = &blocks[i].table
	}
	layout := fit(tables)
	var all [][]string
	for i, b := range blocks {
		all = append(all, append(wrap(b.title, "", "  "), tables[i].lines(layout)...))
	}
	return all
}

// comparisons is the table of one level against the baseline, by test. One
// scale serves a whole row.
func comparisons(r *compare.Report, l compare.Level) block {
	t := table{
		head:  []string{"", "unit", l.Baseline, l.Variant, "change", "verdict"},
		right: []bool{false, false, true, true, false, false},
	}
	eachShown(l.Rows, func(test string) { t.add(test) }, func(c *compare.Comparison) {
		a, b := value(c.A.Median), value(c.B.Median)
		div, in := unit.Scale(c.Unit, a, b)
		t.addOf(c, mark(c)+label(c, l.Rows), in, unit.Cell(a, c.Unit, div), unit.Cell(b, c.Unit, div), c.Change(div), verdict(c))
	})
	return block{r.Named(l), t}
}

// interactions is the table of one pair of levels.
func interactions(r *compare.Report, l compare.Level) block {
	t := table{
		head:  []string{"", "unit", "change", "verdict"},
		right: []bool{false, false, false, false},
	}
	eachShown(l.Rows, func(test string) { t.add(test) }, func(c *compare.Comparison) {
		_, lo, hi := c.Shift()
		div, in := unit.Scale(c.Unit, lo, hi)
		if c.Scale == compare.Percent {
			in = ""
		}
		t.addOf(c, mark(c)+label(c, l.Rows), in, c.Change(div), verdict(c))
	})
	title := fmt.Sprintf("%s %s over %s: what both changes do together beyond what each does alone", l.Factor, l.Variant, l.Baseline)
	return block{title, t}
}

// eachShown calls row for every row that a table shows, and test before the
// first row of each test.
func eachShown(rows []compare.Comparison, test func(string), row func(*compare.Comparison)) {
	last := ""
	for i := range rows {
		c := &rows[i]
		if !shown(c) {
			continue
		}
		of := c.Heading()
		if c.Under != "" {
			of += ", " + c.Under
		}
		if of != last {
			test(of)
			last = of
		}
		row(c)
	}
}

// shown says whether the text has the row: the main metrics, and those that
// count mishaps where there were any or an end did not count them.
func shown(c *compare.Comparison) bool {
	switch c.Rank() {
	case result.Headline, result.Main:
		return true
	case result.NonZero:
		return slices.ContainsFunc([]*float64{c.A.Max, c.B.Max, c.Delta}, func(p *float64) bool { return p != nil && *p != 0 }) ||
			uncounted(c.Warnings)
	}
	return false
}

// value is what a nullable number holds, NaN for null.
func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// label is a row's metric, with its direction, or its end, where the table has it
// of both.
func label(c *compare.Comparison, rows []compare.Comparison) string {
	return shortened(c.Metric) + arrow(c, rows)
}

// perWhat are the ends of names that a row's unit says as well.
var perWhat = []string{"_per_byte", "_per_op"}

// shortened is a metric of CPU time without what its unit tells: "cpu" in ns/B
// is cpu_per_byte.
func shortened(metric string) string {
	if !strings.HasPrefix(metric, result.CPU+"_") {
		return metric
	}
	for _, end := range perWhat {
		if name, ok := strings.CutSuffix(metric, end); ok {
			return name
		}
	}
	return metric
}

// arrow says in which direction the data of a row went, from the local end or to
// it, if the test has the metric at both ends; of what has no direction it says
// at which end it was taken.
func arrow(c *compare.Comparison, rows []compare.Comparison) string {
	other := func(x compare.Comparison) bool {
		return x.Metric == c.Metric && x.End != c.End && x.Under == c.Under && x.Of() == c.Of()
	}
	if !slices.ContainsFunc(rows, other) {
		return ""
	}
	switch {
	case slices.Contains(received, c.Metric):
		return map[string]string{result.Remote: " ->", result.Local: " <-"}[c.End]
	case slices.Contains(handedOver, c.Metric):
		return map[string]string{result.Local: " ->", result.Remote: " <-"}[c.End]
	}
	return " " + c.End
}

// Metrics of data that goes one way: those of what an end received, and those of
// what it sent. All others are of the end and not of a direction.
var (
	received   = []string{result.Goodput, result.LoadGoodput, result.Packets, result.BytesPerPacket}
	handedOver = []string{result.Offered, result.Retransmits, result.ZeroCopied, result.Missed, result.BytesPerSegment}
)

// clipLabel cuts a label short before its end or direction: of two rows of one
// metric that is what tells them apart.
func clipLabel(text string, width int) string {
	for _, last := range []string{" " + result.Local, " " + result.Remote, " ->", " <-"} {
		if name, ok := strings.CutSuffix(text, last); ok && len(text) > width && width > len(last)+1 {
			return clip(name, width-len(last)) + last
		}
	}
	return text
}

// mark is what stands before a metric: an exclamation mark where a warning is
// about it.
func mark(c *compare.Comparison) string {
	if len(c.Warnings) > 0 {
		return "! "
	}
	return "  "
}

// verdict is the row's verdict, with a star where it is real but too small to
// matter, and the blocks or trials that would settle it where it
// is unsure.
func verdict(c *compare.Comparison) string {
	switch {
	case c.Verdict == compare.Same && c.Real:
		return "same*"
	case c.Verdict == compare.Unsure && c.Needed() >= stats.MaxNeeded:
		return fmt.Sprintf("unsure >%d", stats.MaxNeeded-1)
	case c.Verdict == compare.Unsure && c.Needed() > 0:
		return fmt.Sprintf("unsure %d", c.Needed())
	}
	return string(c.Verdict)
}
