package html

import (
	"fmt"
	"html"
	"html/template"
	"math"

	"netdelta/internal/picture"
)

// forestLayout is where things stand in a forest, in pixels; within a row from its top.
type forestLayout struct {
	class                         string
	wide                          float64
	barAt, barWide                float64
	row                           float64 // its height
	bar, bandHigh                 float64
	labelAt, labelY, longestLabel float64
	changeAt, changeY             float64
	longestChange                 float64
}

// Beside each other where there is room, and below each other on a phone.
var (
	wideForest   = forestLayout{"forest", 980, 330, 420, 22, 11, 18, 14, 15, 46, 764, 15, 30}
	narrowForest = forestLayout{"narrow", 336, 20, 296, 52, 40, 14, 6, 13, 50, 6, 28, 50}
)

// forestSVG draws a row for each comparison.
func forestSVG(f *picture.Figure, at forestLayout) template.HTML {
	lo, hi := spanOf(f)
	x := func(v float64) float64 {
		return at.barAt + at.barWide*(math.Max(lo, math.Min(hi, v))-lo)/(hi-lo)
	}
	const heading = 22.0
	groups := 0
	for i := range f.Rows {
		if i == 0 || f.Rows[i].Group != f.Rows[i-1].Group {
			groups++
		}
	}
	high := float64(len(f.Rows))*at.row + float64(groups)*(heading+8) + 34
	var s svg
	s.open(at.wide, high, at.class, f.Title)
	for _, t := range ticks(lo, hi) {
		s.line("grid", x(t), 4, x(t), high-26)
		s.text("tick", x(t), high-8, "middle", percent(t))
	}
	y := 0.0
	for i, r := range f.Rows {
		if i == 0 || r.Group != f.Rows[i-1].Group {
			y += 8
			s.text("group", 4, y+15, "start", r.Group)
			y += heading
		}
		said := fmt.Sprintf("%s: %s, %s", r.Label, r.Change, r.Verdict)
		s.add(`<g class="row %s" tabindex="0"><title>%s</title>`, html.EscapeString(string(r.Verdict)), html.EscapeString(said))
		s.add(`<rect class="hit" x="0" y="%s" width="%s" height="%s"/>`, n(y), n(at.wide), n(at.row))
		mid := y + at.bar
		s.add(`<rect class="band" x="%s" y="%s" width="%s" height="%s"/>`, n(x(-r.Margin)), n(mid-at.bandHigh/2), n(x(r.Margin)-x(-r.Margin)), n(at.bandHigh))
		s.line("zero", x(0), mid-at.bandHigh/2-2, x(0), mid+at.bandHigh/2+2)
		if finite(r.Lo) && finite(r.Hi) {
			s.line("whisker", x(r.Lo), mid, x(r.Hi), mid)
			for _, end := range []float64{r.Lo, r.Hi} {
				if end >= lo && end <= hi {
					s.line("whisker", x(end), mid-4, x(end), mid+4)
				}
			}
		}
		s.add(`<circle class="dot" cx="%s" cy="%s" r="4"/>`, n(x(r.Est)), n(mid))
		s.text("label", at.labelAt, y+at.labelY, "start", cut(r.Label, int(at.longestLabel)))
		s.text("change", at.changeAt, y+at.changeY, "start", cut(r.Change+"  "+string(r.Verdict), int(at.longestChange)))
		s.add(`</g>`)
		y += at.row
	}
	s.line("axis", at.barAt, high-25, at.barAt+at.barWide, high-25)
	return s.done()
}

// spanOf is what the axis reaches, in percent: all estimates, and intervals as far as
// one that is wide does not squeeze the others.
func spanOf(f *picture.Figure) (lo, hi float64) {
	lo, hi = -5, 5
	for _, r := range f.Rows {
		lo, hi = math.Min(lo, math.Min(r.Est, -r.Margin)), math.Max(hi, math.Max(r.Est, r.Margin))
	}
	limit := 1.6 * math.Max(-lo, hi)
	for _, r := range f.Rows {
		if finite(r.Lo) && finite(r.Hi) {
			lo, hi = math.Min(lo, math.Max(r.Lo, -limit)), math.Max(hi, math.Min(r.Hi, limit))
		}
	}
	pad := 0.04 * (hi - lo)
	return lo - pad, hi + pad
}
