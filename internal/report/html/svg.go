package html

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"netdelta/internal/picture"
)

// svg is a drawing in the making. Colours are classes, so that they follow the page's.
type svg struct{ strings.Builder }

func (s *svg) add(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.add(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, n(x1), n(y1), n(x2), n(y2))
}

func (s *svg) text(class string, x, y float64, anchor, text string) {
	s.add(`<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, n(x), n(y), anchor, html.EscapeString(text))
}

func (s *svg) rect(class string, x, y, w, h float64, title string) {
	s.add(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`, class, n(x), n(y), n(math.Max(0, w)), n(math.Max(0, h)), html.EscapeString(title))
}

// n writes a place without needless digits.
func n(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// open begins a drawing of that size, and says in words what it is.
func (s *svg) open(width, height float64, class, label string) {
	s.add(`<svg class="%s" role="img" viewBox="0 0 %s %s" width="%s" height="%s" aria-label="%s">`, class, n(width), n(height), n(width), n(height), html.EscapeString(label))
}

func (s *svg) done() template.HTML {
	s.add(`</svg>`)
	return template.HTML(s.String())
}

// Sizes of a forest, in pixels.
const (
	rowHigh  = 22.0
	labelsAt = 330.0
	barWide  = 420.0
	changeAt = labelsAt + barWide + 14
	allWide  = 980.0
)

// forestSVG draws a row for each comparison.
func forestSVG(f *picture.Figure) template.HTML {
	lo, hi := spanOf(f)
	x := func(v float64) float64 {
		return labelsAt + barWide*(math.Max(lo, math.Min(hi, v))-lo)/(hi-lo)
	}
	groups := 0
	for i := range f.Rows {
		if i == 0 || f.Rows[i].Group != f.Rows[i-1].Group {
			groups++
		}
	}
	high := float64(len(f.Rows))*rowHigh + float64(groups)*(rowHigh+8) + 34
	var s svg
	s.open(allWide, high, "forest", f.Title)
	for _, t := range ticks(lo, hi) {
		s.line("grid", x(t), 4, x(t), high-26)
		s.text("tick", x(t), high-8, "middle", percent(t))
	}
	y := 0.0
	for i, r := range f.Rows {
		if i == 0 || r.Group != f.Rows[i-1].Group {
			y += 8
			s.text("group", 4, y+15, "start", r.Group)
			y += rowHigh
		}
		said := fmt.Sprintf("%s: %s, %s", r.Label, r.Change, r.Verdict)
		s.add(`<g class="row %s" tabindex="0"><title>%s</title>`, html.EscapeString(string(r.Verdict)), html.EscapeString(said))
		s.add(`<rect class="hit" x="0" y="%s" width="%s" height="%s"/>`, n(y), n(allWide), n(rowHigh))
		s.add(`<rect class="band" x="%s" y="%s" width="%s" height="%s"/>`, n(x(-r.Margin)), n(y+2), n(x(r.Margin)-x(-r.Margin)), n(rowHigh-4))
		s.line("zero", x(0), y, x(0), y+rowHigh)
		mid := y + rowHigh/2
		if finite(r.Lo) && finite(r.Hi) {
			s.line("whisker", x(r.Lo), mid, x(r.Hi), mid)
			for _, end := range []float64{r.Lo, r.Hi} {
				if end >= lo && end <= hi {
					s.line("whisker", x(end), mid-4, x(end), mid+4)
				}
			}
		}
		s.add(`<circle class="dot" cx="%s" cy="%s" r="4"/>`, n(x(r.Est)), n(mid))
		s.text("label", 14, mid+4, "start", cut(r.Label, 46))
		s.text("change", changeAt, mid+4, "start", cut(r.Change+"  "+string(r.Verdict), 30))
		s.add(`</g>`)
		y += rowHigh
	}
	s.line("axis", labelsAt, high-25, labelsAt+barWide, high-25)
	return s.done()
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return text
}

func percent(v float64) string {
	text := strconv.FormatFloat(v, 'g', 4, 64) + "%"
	if v > 0 {
		return "+" + text
	}
	return text
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

// ticks are places at 1, 2 or 5 of a power of ten.
func ticks(lo, hi float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/5)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*m) <= 7 {
			step *= m
			break
		}
	}
	var all []float64
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		all = append(all, i*step+0) // which is 0 and not -0 at zero
	}
	return all
}

// barsSVG draws groups of bars from left to right, each with its interval and its value.
func barsSVG(f *picture.Figure) template.HTML {
	const left, thick, gap = 250.0, 15.0, 10.0
	top := 0.0
	for _, s := range f.Series {
		for i := range s.Y {
			top = math.Max(top, s.Y[i])
			if i < len(s.Hi) && finite(s.Hi[i]) && s.Hi[i] < 3*s.Y[i] {
				top = math.Max(top, s.Hi[i])
			}
		}
	}
	if top <= 0 {
		top = 1
	}
	const wide, values = 560.0, 100.0
	x := func(v float64) float64 { return left + wide*math.Min(v, top)/top }
	high := float64(len(f.X.Categories))*(thick*float64(len(f.Series))+gap) + 36
	var s svg
	s.open(left+wide+values, high, "bars", f.Title)
	for _, t := range ticks(0, top) {
		s.line("grid", x(t), 4, x(t), high-28)
		s.text("tick", x(t), high-10, "middle", strconv.FormatFloat(t, 'g', 4, 64)+" "+f.Y.Unit)
	}
	for c, name := range f.X.Categories {
		y := 4 + float64(c)*(thick*float64(len(f.Series))+gap)
		s.text("label", left-10, y+thick*float64(len(f.Series))/2+4, "end", cut(name, 36))
		for i, one := range f.Series {
			at := -1
			for j := range one.X {
				if one.X[j] == float64(c) {
					at = j
				}
			}
			if at < 0 {
				continue
			}
			row := y + float64(i)*thick
			said := fmt.Sprintf("%s, %s: %s %s", name, one.Name, short(one.Y[at]), f.Y.Unit)
			s.rect(fmt.Sprintf("v%d", one.Variant%Colors), left, row+1, x(one.Y[at])-left, thick-2, said)
			if at < len(one.Lo) && finite(one.Lo[at]) && finite(one.Hi[at]) {
				s.line("interval", x(one.Lo[at]), row+thick/2, x(one.Hi[at]), row+thick/2)
			}
			s.text("value", math.Max(x(one.Y[at]), hiOf(one, at, x))+6, row+thick-4, "start", short(one.Y[at]))
		}
	}
	s.line("axis", left, 2, left, high-28)
	return s.done()
}

func hiOf(s picture.Series, at int, x func(float64) float64) float64 {
	if at < len(s.Hi) && finite(s.Hi[at]) {
		return x(s.Hi[at])
	}
	return 0
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
