package text

import (
	"strings"

	"netdelta/internal/compare"
)

// table is rows of cells under a head. A row of one cell is a heading of its
// own and takes the whole line.
type table struct {
	head []string
	// right says which columns stand at the right.
	right []bool
	rows  [][]string
	// of are the comparisons that rows are of, by their place; nil for headings and
	// for tables of anything else.
	of []*compare.Comparison
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// addOf adds the row of a comparison.
func (t *table) addOf(c *compare.Comparison, cells ...string) {
	for len(t.of) < len(t.rows) {
		t.of = append(t.of, nil)
	}
	t.add(cells...)
	t.of = append(t.of, c)
}

// plain makes all cells printable ASCII.
func (t *table) plain() {
	for _, row := range t.rows {
		for i, c := range row {
			row[i] = ascii(c)
		}
	}
}

// layout is how the columns of a table stand.
type layout struct {
	widths []int
	gap    int // blanks between columns
}

// lines lays the table out.
func (t *table) lines(l layout) []string {
	lines := t.heads(l)
	for _, row := range t.rows {
		if len(row) == 1 {
			lines = append(lines, wrap(row[0], "", "    ")...)
			continue
		}
		var b strings.Builder
		for i, cell := range row {
			if cell = ascii(cell); i == 0 {
				cell = clipLabel(cell, l.widths[i])
			}
			if i == len(row)-1 {
				cell = wholeWords(cell, l.widths[i])
			}
			cell = clip(cell, l.widths[i])
			pad := strings.Repeat(" ", l.widths[i]-len(cell))
			if i > 0 {
				b.WriteString(strings.Repeat(" ", l.gap))
			}
			if t.right[i] {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// wholeWords is as many words of a text as fit, if that is any.
func wholeWords(text string, width int) string {
	for len(text) > width {
		at := strings.LastIndexByte(text, ' ')
		if at <= 0 {
			break
		}
		text = text[:at]
	}
	return text
}

// heads lays the head out, each name at the side of its column where the cells
// stand. One that is wider than its column runs on over those beside it; where
// that is another name's place, it stands on a line further up.
func (t *table) heads(l layout) []string {
	var up [][]byte // lines from the lowest up
	for i := len(t.head) - 1; i >= 0; i-- {
		start := i * l.gap
		for _, w := range l.widths[:i] {
			start += w
		}
		end := start + l.widths[i]
		name := ascii(t.head[i])
		if t.right[i] {
			name = clip(name, end)
			start = end - len(name)
		} else {
			name = clip(name, Width-start)
		}
		if name == "" {
			continue
		}
		row := 0
		for row < len(up) && !free(up[row], start-1, start+len(name)+1) {
			row++
		}
		if row == len(up) {
			up = append(up, []byte(strings.Repeat(" ", Width)))
		}
		copy(up[row][start:], name)
	}
	var lines []string
	for i := len(up) - 1; i >= 0; i-- {
		lines = append(lines, strings.TrimRight(string(up[i]), " "))
	}
	return lines
}

// free says whether a line has nothing but blanks from one column to another.
func free(line []byte, from, to int) bool {
	return strings.TrimLeft(string(line[max(0, from):min(len(line), to)]), " ") == ""
}

// fits says whether the table is no wider than a page, with nothing cut.
func (t *table) fits() bool {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len(ascii(cell)))
		}
	}
	total := len(widths) - 1
	for _, w := range widths {
		total += w
	}
	return total <= Width
}

// fit gives each column of some tables of one shape the width of its widest
// cell, so that they stand under each other alike. If that is too much, the
// gaps give way first, then heads, which may run over the next columns, and then
// whichever column is widest.
func fit(tables []*table) layout {
	var widths, body []int
	for _, t := range tables {
		t.plain()
		if widths == nil {
			widths, body = make([]int, len(t.head)), make([]int, len(t.head))
		}
		for i, h := range t.head {
			widths[i] = max(widths[i], len(ascii(h)))
		}
		for _, row := range t.rows {
			for i, cell := range row {
				if len(row) > 1 {
					body[i] = max(body[i], len(cell))
				}
			}
		}
	}
	total := 0
	for i := range widths {
		widths[i] = max(widths[i], body[i])
		total += widths[i]
	}
	gap := 2
	if total+gap*(len(widths)-1) > Width {
		gap = 1
	}
	for total += gap * (len(widths) - 1); total > Width; total-- {
		widths[gives(widths, body)]--
	}
	return layout{widths, gap}
}

// What the first and the last column can give way to: a label stays one, and a
// verdict loses no more than what stands behind it.
const (
	narrowLabel = 14
	narrowLast  = 6
)

// gives is the column that has to give way: the one with the widest head that
// is wider than its cells, else the labels and then the last column, which can be
// cut and still be read, and only then the widest.
func gives(widths, body []int) int {
	widest, byHead := 0, -1
	for i, w := range widths {
		if w > widths[widest] {
			widest = i
		}
		if w > body[i] && (byHead < 0 || w > widths[byHead]) {
			byHead = i
		}
	}
	last := len(widths) - 1
	switch {
	case byHead >= 0:
		return byHead
	case widths[0] > narrowLabel:
		return 0
	case widths[last] > narrowLast:
		return last
	}
	return widest
}
