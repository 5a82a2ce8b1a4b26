package term

import (
	"regexp"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/report/text"
)

// column is a column of a table to be.
type column struct {
	head  string
	right bool
	axis  bool     // the head is an axis, which is not broken
	cells []string // one a row that is no heading, coloured or not
}

// forestWidth is that of the bars, and narrowForest where there is less room.
const (
	forestWidth  = 21
	narrowForest = 13
)

// table lays a table out in the terminal's width: with what there is room for.
func (p *page) table(d *compare.Document, t *text.Table) []string {
	columns := p.columnsOf(t)
	var compared []*compare.Comparison
	for _, r := range t.Rows {
		if r.Of != nil {
			compared = append(compared, r.Of)
		}
	}
	if len(compared) > 0 {
		return p.comparisons(t, columns, compared)
	}
	for i := range columns {
		for j, c := range columns[i].cells {
			if word, _, _ := strings.Cut(c, " "); word == "pass" || word == "FAIL" {
				columns[i].cells[j] = p.look.verdict(word, c)
			}
		}
	}
	return p.fitting(t, columns)
}

func (p *page) columnsOf(t *text.Table) []column {
	columns := make([]column, len(t.Head))
	for i, h := range t.Head {
		columns[i] = column{head: p.look.clean(h), right: t.Right[i]}
		for _, r := range t.Rows {
			if r.Heading == "" && i < len(r.Cells) {
				columns[i].cells = append(columns[i].cells, p.look.clean(r.Cells[i]))
			}
		}
	}
	return columns
}

// comparisons is a table of changes, each with a bar and a verdict that has a sign. Where
// there is no room, the bars go, then the figures, then the intervals.
func (p *page) comparisons(t *text.Table, columns []column, compared []*compare.Comparison) []string {
	last := len(columns) - 1
	for i, c := range compared {
		columns[last].cells[i] = p.look.verdict(string(c.Verdict), signed(columns[last].cells[i]))
		if label := columns[0].cells[i]; strings.HasPrefix(label, "! ") {
			columns[0].cells[i] = p.look.caution("!") + label[1:]
		}
	}
	for _, w := range []int{forestWidth, narrowForest} {
		with := append(append(append([]column{}, columns[:last]...), p.bars(compared, w)), columns[last])
		if p.room(with) >= 0 {
			lines := p.lay(t, with)
			if !p.explained {
				p.explained = true
				for _, line := range p.wrap("Bars: a change with its interval, to the left for less and to the right for more, on a scale of ratios; dots are the margin.", "", "") {
					lines = append(lines, p.look.quiet(line))
				}
			}
			return lines
		}
	}
	if p.room(columns) >= 0 {
		return p.lay(t, columns)
	}
	short := []column{columns[0], columns[last-1], columns[last]}
	if p.room(short) < 0 {
		short[1] = short[1].bare()
	}
	return p.lay(t, p.clipped(short))
}

// bars is a column of a forest.
func (p *page) bars(compared []*compare.Comparison, width int) column {
	f := newForest(compared, width)
	c := column{head: f.head(), axis: true}
	for _, x := range compared {
		c.cells = append(c.cells, p.look.verdict(string(x.Verdict), f.row(x)))
	}
	return c
}

var interval = regexp.MustCompile(` \([^()]* to [^()]*\)`)

// bare is a column without intervals.
func (c column) bare() column {
	cells := make([]string, len(c.cells))
	for i, s := range c.cells {
		cells[i] = interval.ReplaceAllString(s, "")
	}
	c.cells = cells
	return c
}

// gap is how many blanks are between columns.
const gap = 2

// room is how many columns of the terminal are left, below 0 for too few.
func (p *page) room(columns []column) int {
	left := p.look.Width + gap
	for _, c := range columns {
		left -= c.width() + gap
	}
	return left
}

// width is a column's: that of its widest cell, or of the head's widest word.
func (c column) width() int {
	n := 0
	for _, s := range c.cells {
		n = max(n, width(s))
	}
	if c.axis {
		return max(n, width(c.head))
	}
	for _, word := range strings.Fields(c.head) {
		n = max(n, min(width(word), longestWord))
	}
	return n
}

// longestWord is where words of heads are cut.
const longestWord = 16

// fitting is a table of any kind: where there is no room its intervals go, and then the
// columns that don't fit stand below the others.
func (p *page) fitting(t *text.Table, columns []column) []string {
	var lines []string
	less := false
	if p.room(columns) < 0 {
		for i := range columns[1:] {
			b := columns[1+i].bare()
			for j := range b.cells {
				less = less || b.cells[j] != columns[1+i].cells[j]
			}
			columns[1+i] = b
		}
	}
	for rest := columns[1:]; len(rest) > 0; {
		some := []column{columns[0], rest[0]}
		for rest = rest[1:]; len(rest) > 0 && p.room(append(some, rest[0])) >= 0; rest = rest[1:] {
			some = append(some, rest[0])
		}
		lines = append(lines, p.lay(t, p.clipped(some))...)
	}
	if less {
		lines = append(lines, p.wrap("Intervals: --format json.", "  ", "    ")...)
	}
	return lines
}

// clipped is columns of which the labels, and then the last, give way until all fit.
func (p *page) clipped(columns []column) []column {
	const least = 10
	for _, i := range []int{0, len(columns) - 1, 1} {
		over := -p.room(columns)
		if over <= 0 {
			break
		}
		most := max(columns[i].width()-over, least)
		cells := make([]string, len(columns[i].cells))
		for j, s := range columns[i].cells {
			if cells[j] = s; width(s) > most {
				cells[j] = clip(plain(s), most)
			}
		}
		columns[i].cells = cells
	}
	return columns
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain is a text without its colours.
func plain(s string) string { return sgr.ReplaceAllString(s, "") }
