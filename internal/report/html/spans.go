package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"

	"netdelta/internal/picture"
)

// spansLayout is where things stand in a figure of spans, in pixels; as barsLayout.
type spansLayout struct {
	class                       string
	left, wide, values, heading float64
	longest                     int
}

var (
	wideSpans   = spansLayout{"bars", 190, 620, 90, 0, 27}
	narrowSpans = spansLayout{"narrow", 8, 250, 74, 18, 50}
)

// spansSVG draws a row for each category, with its bars.
func spansSVG(f *picture.Figure, at spansLayout) template.HTML {
	const thick, gap = 20.0, 8.0
	lo, hi := f.SpanRange()
	x := func(v float64) float64 { return at.left + at.wide*(v-lo)/(hi-lo) }
	each := at.heading + thick + gap
	high := float64(len(f.Y.Categories))*each + 36
	var s svg
	s.open(at.left+at.wide+at.values, high, at.class, f.Title)
	marks := picture.Ticks(lo, hi)
	for i, t := range marks {
		said := strconv.FormatFloat(t, 'g', 4, 64)
		if at.heading == 0 || i == len(marks)-1 {
			said += " " + f.X.Unit
		}
		s.line("grid", x(t), 4, x(t), high-28)
		s.text("tick", x(t), high-10, "middle", said)
	}
	s.line("axis", x(0), 2, x(0), high-28)
	for row, name := range f.Y.Categories {
		y := 4 + float64(row)*each
		if at.heading > 0 {
			s.text("label", at.left, y+at.heading-5, "start", cut(name, at.longest))
			y += at.heading
		} else {
			s.text("label", at.left-10, y+thick/2+4, "end", cut(name, at.longest))
		}
		value, end := "", x(0)
		for _, one := range f.Spans {
			if one.Row != row || !one.Drawn() {
				continue
			}
			from, to := x(math.Min(one.From, one.To)), x(math.Max(one.From, one.To))
			// A bar too small to be seen is a line all the same.
			s.rect(fmt.Sprintf("v%d", one.Color%Colors), from, y, math.Max(to-from, 0.7), thick, one.Said)
			value, end = one.Value, math.Max(end, to)
		}
		s.text("value", end+6, y+thick/2+4, "start", value)
	}
	return s.done()
}
