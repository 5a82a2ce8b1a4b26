package markdown

import (
	"strings"
	"unicode/utf8"

	"netdelta/internal/compare"
	"netdelta/internal/report/text"
)

// grid is a table of cells that are Markdown already. Its columns stand under each
// other in the source too, which people read as often.
type grid struct {
	head  []string
	right []bool
	rows  [][]string
}

// tableOf is a table of the text: a heading is a row with one cell that is not empty.
// Better and worse stand out.
func tableOf(t *text.Table) grid {
	g := grid{right: t.Right}
	for _, h := range t.Head {
		g.head = append(g.head, escaped(h))
	}
	for _, row := range t.Rows {
		cells := make([]string, len(t.Head))
		if row.Heading != "" {
			cells[0] = bold(escaped(row.Heading))
		}
		for i, c := range row.Cells {
			if i < len(cells) {
				cells[i] = escaped(c)
			}
		}
		if row.Of != nil && (row.Of.Verdict == compare.Better || row.Of.Verdict == compare.Worse) {
			cells[len(cells)-1] = bold(cells[len(cells)-1])
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// driftOf is how some series went.
func driftOf(series []compare.Drift) grid {
	g := grid{head: []string{"", "blocks", "thirds", "halves"}, right: []bool{false, false, true, true}}
	for i := range series {
		d := &series[i]
		thirds, halves := text.Change(d)
		g.rows = append(g.rows, []string{escaped(text.SeriesName(d)), escaped(text.Spark(d)), escaped(thirds), escaped(halves)})
	}
	return g
}

func bold(s string) string {
	if s == "" {
		return s
	}
	return "**" + s + "**"
}

// lines lays the table out.
func (g grid) lines() string {
	const least = 3 // of a delimiter
	widths := make([]int, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c), least)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if g.right[i] {
				c = pad + c
			} else {
				c += pad
			}
			b.WriteString("| " + c + " ")
		}
		b.WriteString("|\n")
	}
	line(g.head)
	for i, w := range widths {
		rule := strings.Repeat("-", w)
		if g.right[i] {
			rule = rule[1:] + ":"
		}
		b.WriteString("| " + rule + " ")
	}
	b.WriteString("|\n")
	for _, row := range g.rows {
		line(row)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
