package html

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"

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
	lo, hi := f.Span()
	place := func(p float64) float64 {
		return at.barAt + at.barWide*(math.Max(lo, math.Min(hi, p))-lo)/(hi-lo)
	}
	x := func(percent float64) float64 { return place(picture.Place(percent)) }
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
	for _, t := range named(lo, hi, at.barWide) {
		s.line("grid", place(t.At), 4, place(t.At), high-26)
		s.text("tick", place(t.At), high-8, "middle", t.Name)
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
				if p := picture.Place(end); p >= lo && p <= hi {
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

// named are the places on the axis that have names, no more than there is room for.
func named(lo, hi, room float64) []picture.Tick {
	all := picture.ChangeTicks(lo, hi)
	zero := slices.IndexFunc(all, func(t picture.Tick) bool { return t.At == 0 })
	for every := 2; float64(len(all))*45 > room && every < 6; every++ {
		var some []picture.Tick
		for i, t := range picture.ChangeTicks(lo, hi) {
			if (i-zero)%every == 0 {
				some = append(some, t)
			}
		}
		all = some
	}
	return all
}
