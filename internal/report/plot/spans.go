package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"netdelta/internal/picture"
)

// spanHeight is of a row of spans.
const spanHeight = 26

// spans draws a row for each category, with its bars, below the names of their colours.
func spans(c draw.Canvas, p *plot.Plot, f *picture.Figure) {
	names, colors := f.Names()
	legend := *f
	legend.Kind, legend.Series = picture.Bars, nil
	for i, name := range names {
		legend.Series = append(legend.Series, picture.Series{Name: name, Variant: colors[i]})
	}
	c = legendOf(c, p, &legend)
	label := style(p, 8.5, ink)
	label.XAlign, label.YAlign = draw.XLeft, draw.YCenter
	left, right := vg.Length(0), vg.Length(0)
	for _, name := range f.Y.Categories {
		left = max(left, label.Width(name))
	}
	for _, s := range f.Spans {
		right = max(right, label.Width(s.Value))
	}
	left, right = min(left+16, 220), right+14
	lo, hi := f.SpanRange()
	x0, x1 := c.Min.X+left, c.Max.X-right
	at := func(v float64) vg.Length { return x0 + (x1-x0)*vg.Length((v-lo)/(hi-lo)) }
	top, bottom := c.Max.Y-4, c.Min.Y+30
	tick := style(p, 8, faint)
	tick.XAlign, tick.YAlign = draw.XCenter, draw.YTop
	for _, v := range picture.Ticks(lo, hi) {
		c.StrokeLine2(draw.LineStyle{Color: gridly, Width: 0.6}, at(v), bottom, at(v), top)
		c.FillText(tick, vg.Point{X: at(v), Y: bottom - 4}, strconv.FormatFloat(v, 'g', 4, 64))
	}
	c.FillText(tick, vg.Point{X: (x0 + x1) / 2, Y: bottom - 16}, labelled(f.X))
	c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.8}, at(0), bottom, at(0), top)
	for row, name := range f.Y.Categories {
		y := top - vg.Length(row+1)*spanHeight
		mid := y + spanHeight/2
		c.FillText(label, vg.Point{X: c.Min.X + 4, Y: mid}, clipped(name, label, left-8))
		value, end := "", at(0)
		for _, s := range f.Spans {
			if s.Row != row || !s.Drawn() {
				continue
			}
			a, b := at(math.Min(s.From, s.To)), at(math.Max(s.From, s.To))
			b = max(b, a+0.5) // a bar too small to be seen is a line all the same
			c.FillPolygon(colorOf(s.Color), []vg.Point{{X: a, Y: y + 4}, {X: b, Y: y + 4}, {X: b, Y: y + spanHeight - 4}, {X: a, Y: y + spanHeight - 4}})
			value, end = s.Value, max(end, b)
		}
		c.FillText(label, vg.Point{X: end + 5, Y: mid}, value)
	}
}
