package text

import "strings"

// table is rows of cells under a head. A row of one cell is a heading of its
// own and takes the whole line.
type table struct {
	head []string
	// right says which columns stand at the right.
	right []bool
	rows  [][]string
}

func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = ascii(c)
	}
	t.rows = append(t.rows, cells)
}

// layout is how the columns of a table stand.
type layout struct {
	widths []int
	gap    int // blanks between columns
}

// lines lays the table out.
func (t *table) lines(l layout) []string {
	var lines []string
	for _, row := range append([][]string{t.head}, t.rows...) {
		if len(row) == 1 {
			lines = append(lines, strings.TrimRight(clip(row[0], Width), " "))
			continue
		}
		var b strings.Builder
		for i, cell := range row {
			cell = clip(ascii(cell), l.widths[i])
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

// fit gives each column of some tables of one shape the width of its widest
// cell, so that they stand under each other alike. If that is too much, the
// gaps give way first, then heads, and then whichever column is widest.
func fit(tables []*table) layout {
	var widths, body []int
	for _, t := range tables {
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

// gives is the column that has to give way: the one with the widest head that
// is wider than its cells, else the widest.
func gives(widths, body []int) int {
	widest, byHead := 0, -1
	for i, w := range widths {
		if w > widths[widest] {
			widest = i
		}
		if w > body[i] && w > minHead && (byHead < 0 || w > widths[byHead]) {
			byHead = i
		}
	}
	if byHead >= 0 {
		return byHead
	}
	return widest
}

// minHead is the width below which a head gives way no further before the
// cells under it do.
const minHead = 6
