package term

import (
	"fmt"
	"math"
	"strings"

	"netdelta/internal/picture"
)

// spanMarks tell spans of different names apart where there are no colours, and with them.
const spanMarks = "s=dhWrRt?"

// spansOf draws a row of characters for each category.
func (p *page) spansOf(f *picture.Figure) []string {
	lo, hi := f.SpanRange()
	label, value := 0, 0
	for _, name := range f.Y.Categories {
		label = max(label, min(len([]rune(p.look.clean(name))), 24))
	}
	for _, s := range f.Spans {
		value = max(value, len(s.Value))
	}
	room := max(10, p.look.Width-label-value-6)
	at := func(v float64) int { return int(math.Round((v - lo) / (hi - lo) * float64(room))) }
	var lines []string
	for row, name := range f.Y.Categories {
		line := []rune(strings.Repeat(" ", room+1))
		said := ""
		for _, s := range f.Spans {
			if s.Row != row {
				continue
			}
			a, b := at(math.Min(s.From, s.To)), at(math.Max(s.From, s.To))
			if b == a && s.Row == row && (a == 0 || line[a] == ' ') && len(f.Spans) == len(f.Y.Categories) {
				b++ // a row's only bar
			}
			for i := a; i < min(b, len(line)); i++ {
				line[i] = rune(spanMarks[s.Color%len(spanMarks)])
			}
			said = s.Value
		}
		r := []rune(p.look.clean(name))
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  %-*s |%s %s", label, string(r[:min(len(r), label)]), string(line[:room]), said), " "))
	}
	names, colors := f.Names()
	var keys []string
	for i, name := range names {
		keys = append(keys, string(spanMarks[colors[i]%len(spanMarks)])+" "+name)
	}
	return append(lines, p.wrap("  "+strings.Join(keys, ", "), "", "  ")...)
}
