package term

import (
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"netdelta/internal/report/text"
)

// lay is the table's lines: a head, a rule, and the rows with their headings between.
func (p *page) lay(t *text.Table, columns []column) []string {
	heads := make([][]string, len(columns))
	tallest := 0
	for i, c := range columns {
		heads[i] = headLines(c)
		tallest = max(tallest, len(heads[i]))
	}
	x := table.New().Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderHeader(false).BorderColumn(false).BorderRow(false).Wrap(false).
		StyleFunc(func(row, at int) lipgloss.Style {
			s := lipgloss.NewStyle()
			if at < len(columns)-1 {
				s = s.PaddingRight(gap)
			}
			if columns[at].right {
				s = s.Align(lipgloss.Right)
			}
			return s
		})
	for n := range tallest {
		row := make([]string, len(columns))
		for i, h := range heads {
			if at := n - tallest + len(h); at >= 0 {
				row[i] = p.look.title(h[at])
			}
		}
		x.Row(row...)
	}
	rows := len(columns[0].cells)
	for n := range rows {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.cells[n]
		}
		x.Row(row...)
	}
	laid := strings.Split(x.Render(), "\n")
	whole := gap * (len(columns) - 1)
	for _, c := range columns {
		whole += c.width()
	}
	lines := append(laid[:tallest:tallest], p.look.quiet(strings.Repeat("─", min(whole, p.look.Width))))
	at := tallest
	for _, r := range t.Rows {
		if r.Heading != "" {
			for _, line := range p.wrap(r.Heading, "", "    ") {
				lines = append(lines, p.look.title(line))
			}
			continue
		}
		lines = append(lines, laid[at])
		at++
	}
	return lines
}

// headLines is a head in lines no wider than its column.
func headLines(c column) []string {
	most := c.width()
	if width(c.head) <= most {
		return []string{c.head}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(c.head) {
		word = clip(word, most)
		if line != "" && width(line)+1+width(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
