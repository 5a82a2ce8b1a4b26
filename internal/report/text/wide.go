package text

import (
	"slices"
	"strings"
)

// wide is a table whose heads take as many lines as they need, and whose figures are
// never cut: where there is no room the intervals go, and then the columns behind the
// last that fits stand below the others.
type wide struct {
	labels  []string
	columns []wideColumn
}

// wideColumn is a column: a cell a label.
type wideColumn struct {
	name, unit string
	left       bool
	// cells are with intervals, and short without; short is nil where that is the
	// same. whole are cells with nothing cut; nil where that is the same.
	cells, short, whole []string
}

const (
	// longestWord is where words of heads are cut, and longestText where cells are
	// that have a text in place of a figure.
	longestWord, longestText = 14, 24
	// longestLabel and shortestLabel are what labels are cut to: if they are longer,
	// and if there is no room else.
	longestLabel, shortestLabel = 34, 14
	gutter                      = 2
)

// lines lays the table out; less says that intervals were left out.
func (w *wide) lines() (lines []string, less bool) {
	label := 0
	for i := range w.labels {
		w.labels[i] = ascii(w.labels[i])
		label = max(label, min(len(w.labels[i])+gutter, longestLabel))
	}
	columns := slices.Clone(w.columns)
	for i := range columns {
		columns[i] = columns[i].plain()
	}
	gap := 1
	switch over := -room(columns, label, gap); {
	case over <= 0: // there is room
	case label-over >= shortestLabel:
		label -= over // a shorter label leaves room for the intervals
	default:
		for i := range columns {
			if columns[i].short != nil {
				columns[i].cells, less = columns[i].short, true
			}
		}
	}
	if room(columns, label, gutter) >= 0 {
		gap = gutter
	}
	if over := -room(columns, label, gap); over > 0 {
		label = max(min(label, shortestLabel), label-over)
	}
	for len(columns) > 0 {
		n := 1
		for n < len(columns) && room(columns[:n+1], label, gap) >= 0 {
			n++
		}
		lines = append(lines, w.some(columns[:n], label, gap)...)
		columns = columns[n:]
	}
	return lines, less
}

// plain is the column in printable ASCII, with nothing wider than a line has room for.
func (c wideColumn) plain() wideColumn {
	c.name, c.unit = ascii(c.name), clip(ascii(c.unit), longestWord)
	c.cells, c.short = plainCells(c.cells), plainCells(c.short)
	return c
}

func plainCells(cells []string) []string {
	if cells == nil {
		return nil
	}
	all := make([]string, len(cells))
	for i, text := range cells {
		all[i] = clip(ascii(text), Width-shortestLabel-1)
	}
	return all
}

// least is the fewest columns of a page that the column takes.
func (c *wideColumn) least() int {
	n := len(c.unit)
	for _, word := range strings.Fields(c.name) {
		n = max(n, min(len(word), longestWord))
	}
	for _, cell := range c.cells {
		n = max(n, len(cell))
	}
	return n
}

// room is how much of a line some columns leave, below 0 for too little.
func room(columns []wideColumn, label, gap int) int {
	left := Width - label
	for i := range columns {
		left -= gap + columns[i].least()
	}
	return left
}

// some lays out columns that fit. What room they leave goes to the heads with most
// lines.
func (w *wide) some(columns []wideColumn, label, gap int) []string {
	widths := make([]int, len(columns))
	for i := range columns {
		widths[i] = columns[i].least()
	}
	heads := make([][]string, len(columns))
	for left := room(columns, label, gap); ; left-- {
		most := 0
		for i := range columns {
			heads[i] = headLines(columns[i], widths[i])
			if len(heads[i]) > len(heads[most]) {
				most = i
			}
		}
		if left <= 0 || len(headLines(wideColumn{name: columns[most].name}, widths[most])) < 2 {
			break
		}
		widths[most]++
	}
	var lines []string
	line := func(first string, cell func(i int) string) {
		text := clip(first, label)
		text += strings.Repeat(" ", label-len(text))
		for i, c := range columns {
			s := cell(i)
			pad := strings.Repeat(" ", max(0, widths[i]-len(s)))
			if text += strings.Repeat(" ", gap); c.left {
				text += s + pad
			} else {
				text += pad + s
			}
		}
		if text = strings.TrimRight(text, " "); text != "" {
			lines = append(lines, text)
		}
	}
	tallest := 0
	for _, h := range heads {
		tallest = max(tallest, len(h))
	}
	for n := range tallest {
		line("", func(i int) string {
			if at := n - tallest + len(heads[i]); at >= 0 {
				return heads[i][at]
			}
			return ""
		})
	}
	for row, name := range w.labels {
		line("  "+name, func(i int) string {
			if row < len(columns[i].cells) {
				return columns[i].cells[row]
			}
			return ""
		})
	}
	return lines
}

// headLines is a column's name in lines no wider than the column, and its unit.
func headLines(c wideColumn, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(c.name) {
		if line != "" && len(line)+1+len(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for len(word) > width {
			lines, word = append(lines, word[:width]), word[width:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	if c.unit != "" {
		lines = append(lines, c.unit)
	}
	return lines
}
