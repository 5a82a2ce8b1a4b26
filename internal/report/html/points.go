package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"

	"netdelta/internal/picture"
)

// PointsSVG draws points with their intervals, joined within each series, on two even
// axes: for pages that have no script for curves.
func PointsSVG(f *picture.Figure) template.HTML {
	const left, wide, high, low = 70.0, 860.0, 260.0, 40.0
	xlo, xhi, ylo, yhi := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range f.Series {
		for i := range s.X {
			xlo, xhi = math.Min(xlo, s.X[i]), math.Max(xhi, s.X[i])
			ylo, yhi = math.Min(ylo, s.Lo[i]), math.Max(yhi, s.Hi[i])
		}
	}
	if xhi < xlo {
		return ""
	}
	if ylo > 0 && ylo < yhi/3 {
		ylo = 0
	}
	if ylo == yhi {
		ylo, yhi = ylo-math.Abs(ylo)/10-1e-9, yhi+math.Abs(yhi)/10+1e-9
	}
	pad := 0.06 * (yhi - ylo)
	ylo, yhi = ylo-pad, yhi+pad
	x := func(v float64) float64 { return left + 20 + (wide-40)*(v-xlo)/math.Max(1, xhi-xlo) }
	y := func(v float64) float64 { return 8 + high*(1-(v-ylo)/(yhi-ylo)) }
	var s svg
	s.open(left+wide, high+low+8, "points", f.Title)
	for _, t := range picture.Ticks(ylo, yhi) {
		s.line("grid", left, y(t), left+wide, y(t))
		s.text("tick", left-8, y(t)+4, "end", strconv.FormatFloat(t, 'g', 4, 64))
	}
	for _, t := range picture.Ticks(xlo, math.Max(xhi, xlo+1)) {
		if t == math.Trunc(t) {
			s.text("tick", x(t), high+26, "middle", strconv.FormatFloat(t, 'g', 6, 64))
		}
	}
	s.text("tick", left+wide/2, high+44, "middle", f.X.Label)
	for _, one := range f.Series {
		class := fmt.Sprintf("v%d", one.Variant%Colors)
		for i := range one.X {
			px := x(one.X[i])
			s.line("interval", px, y(one.Lo[i]), px, y(one.Hi[i]))
			s.add(`<circle class="%s" cx="%s" cy="%s" r="4.5"><title>`, class, n(px), n(y(one.Y[i])))
			s.add("%s", template.HTMLEscapeString(fmt.Sprintf("%s %g: %s %s", one.Name, one.X[i], short(one.Y[i]), f.Y.Unit)))
			s.add(`</title></circle>`)
		}
	}
	s.line("axis", left, 8, left, high+8)
	s.line("axis", left, high+8, left+wide, high+8)
	return s.done()
}
