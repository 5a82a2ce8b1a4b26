package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"netdelta/internal/compare"
	"netdelta/internal/picture"
)

// verdicts are the colours of what rows say; their words stand beside them.
var verdicts = map[compare.Verdict]color.RGBA{
	compare.Better: {0x00, 0x72, 0xb2, 0xff}, compare.Worse: {0xd5, 0x5e, 0x00, 0xff},
	compare.Same: {0x55, 0x55, 0x55, 0xff}, compare.Unsure: {0x99, 0x99, 0x99, 0xff},
}

// forest draws a row for each comparison, grouped.
func forest(c draw.Canvas, p *plot.Plot, f *picture.Figure) {
	label, change := style(p, 8.5, ink), style(p, 8.5, ink)
	label.XAlign, label.YAlign = draw.XLeft, draw.YCenter
	change.XAlign, change.YAlign = draw.XLeft, draw.YCenter
	group := style(p, 9.5, ink)
	group.XAlign, group.YAlign = draw.XLeft, draw.YCenter
	left, right := vg.Length(0), vg.Length(0)
	for _, r := range f.Rows {
		left = max(left, label.Width(r.Label))
		right = max(right, change.Width(r.Change+"  "+string(r.Verdict)))
	}
	left, right = min(left+20, 330), min(right+14, 230)
	lo, hi := f.Span()
	x0, x1 := c.Min.X+left, c.Max.X-right
	at := func(place float64) vg.Length {
		return x0 + (x1-x0)*vg.Length((math.Max(lo, math.Min(hi, place))-lo)/(hi-lo))
	}
	tx := func(percent float64) vg.Length { return at(picture.Place(percent)) }
	top, bottom := c.Max.Y-4, c.Min.Y+26
	axis(c, p, at, lo, hi, top, bottom)
	y, last := top, ""
	for _, r := range f.Rows {
		if r.Group != last {
			last = r.Group
			y -= rowHeight * 0.6
			c.FillText(group, vg.Point{X: c.Min.X, Y: y - rowHeight/2}, r.Group)
			y -= rowHeight
		}
		y -= rowHeight
		mid := y + rowHeight/2
		c.FillPolygon(band, []vg.Point{{X: tx(-r.Margin), Y: y + 1}, {X: tx(r.Margin), Y: y + 1}, {X: tx(r.Margin), Y: y + rowHeight - 1}, {X: tx(-r.Margin), Y: y + rowHeight - 1}})
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.6}, tx(0), y, tx(0), y+rowHeight)
		col := verdicts[r.Verdict]
		if finite(r.Lo) && finite(r.Hi) {
			c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.4}, tx(r.Lo), mid, tx(r.Hi), mid)
			for _, end := range []float64{r.Lo, r.Hi} {
				if place := picture.Place(end); place >= lo && place <= hi {
					c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.2}, tx(end), mid-3, tx(end), mid+3)
				}
			}
		}
		c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: 2.8, Shape: draw.CircleGlyph{}}, vg.Point{X: tx(r.Est), Y: mid})
		c.FillText(label, vg.Point{X: c.Min.X + 10, Y: mid}, clipped(r.Label, label, left-16))
		change.Color = col
		c.FillText(change, vg.Point{X: x1 + 10, Y: mid}, r.Change+"  "+string(r.Verdict))
	}
}

// axis draws the scale below the rows.
func axis(c draw.Canvas, p *plot.Plot, at func(float64) vg.Length, lo, hi float64, top, bottom vg.Length) {
	s := style(p, 8, faint)
	s.XAlign, s.YAlign = draw.XCenter, draw.YTop
	c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.8}, at(lo), bottom, at(hi), bottom)
	for _, t := range picture.ChangeTicks(lo, hi) {
		x := at(t.At)
		c.StrokeLine2(draw.LineStyle{Color: gridly, Width: 0.6}, x, bottom, x, top)
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.8}, x, bottom, x, bottom-3)
		c.FillText(s, vg.Point{X: x, Y: bottom - 5}, t.Name)
	}
}

// clipped is a text that fits a width, with dots where it was cut.
func clipped(text string, s draw.TextStyle, width vg.Length) string {
	r := []rune(text)
	for s.Width(string(r)) > width && len(r) > 4 {
		r = append(r[:len(r)-4], []rune("...")...)
	}
	return string(r)
}
