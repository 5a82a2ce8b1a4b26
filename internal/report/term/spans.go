package term

import (
	"fmt"
	"math"
	"strings"

	"netdelta/internal/picture"
)

// spansOf draws a row of characters for each category.
func (p *page) spansOf(f *picture.Figure) []string {
	lo, hi := f.SpanRange()
	label, value := 0, 0
	said := func(s *picture.Span) string { return clip(p.look.clean(s.Value), p.look.Width/4) }
	for _, name := range f.Y.Categories {
		label = max(label, min(width(p.look.clean(name)), widestLabel, p.look.Width/3))
	}
	for i := range f.Spans {
		value = max(value, width(said(&f.Spans[i])))
	}
	room := p.look.Width - label - value - 6
	at := func(v float64) int { return int(math.Round((v - lo) / (hi - lo) * float64(room))) }
	var lines []string
	for row, name := range f.Y.Categories {
		marks := make([]*picture.Span, room)
		last := ""
		for i := range f.Spans {
			s := &f.Spans[i]
			if s.Row != row || !s.Drawn() {
				continue
			}
			a, b := at(math.Min(s.From, s.To)), at(math.Max(s.From, s.To))
			if a == b && len(f.Spans) == len(f.Y.Categories) { // a row's only bar
				a, b = min(a, room-1), min(a, room-1)+1
			}
			for k := a; k < min(b, room); k++ {
				marks[k] = s
			}
			last = said(s)
		}
		name = clip(p.look.clean(name), label)
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  %s%s |%s %s", name, strings.Repeat(" ", label-width(name)), p.marked(marks), last), " "))
	}
	var keys []string
	names, _ := f.Names()
	for _, name := range names {
		for i := range f.Spans {
			if s := &f.Spans[i]; s.Name == name {
				keys = append(keys, markOf(s)+" "+clip(p.look.clean(name), p.look.Width-6))
				break
			}
		}
	}
	return append(lines, p.wrap("  "+strings.Join(keys, ", "), "", "  ")...)
}

func markOf(s *picture.Span) string {
	if len(s.Mark) == 1 {
		return s.Mark
	}
	return "#"
}

// marked is a row of marks, each span's in its colour.
func (p *page) marked(marks []*picture.Span) string {
	var b strings.Builder
	for i := 0; i < len(marks); {
		k := i
		for k < len(marks) && marks[k] == marks[i] {
			k++
		}
		if marks[i] == nil {
			b.WriteString(strings.Repeat(" ", k-i))
		} else {
			b.WriteString(p.look.variant(marks[i].Color, strings.Repeat(markOf(marks[i]), k-i)))
		}
		i = k
	}
	return b.String()
}
