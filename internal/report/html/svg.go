package html

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
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

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return text
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
