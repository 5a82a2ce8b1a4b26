package html

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"netdelta/internal/picture"
)

// barsLayout is where things stand in a figure of bars, in pixels. A category's name
// stands left of its bars, or above them where there is a heading's height for it.
type barsLayout struct {
	class                       string
	left, wide, values, heading float64
	longest                     int
}

var (
	wideBars   = barsLayout{"bars", 250, 560, 100, 0, 36}
	narrowBars = barsLayout{"narrow", 18, 248, 70, 20, 50}
)

// barsSVG draws groups of bars from left to right, each with its interval and its value.
func barsSVG(f *picture.Figure, at barsLayout) template.HTML {
	const thick, gap = 15.0, 10.0
	from, top := barsSpan(f)
	x := func(v float64) float64 {
		v = math.Max(from, math.Min(v, top))
		if f.Y.Log {
			return at.left + at.wide*(math.Log(v)-math.Log(from))/(math.Log(top)-math.Log(from))
		}
		return at.left + at.wide*((v-from)/(top-from))
	}
	each := at.heading + thick*float64(len(f.Series)) + gap
	high := float64(len(f.X.Categories))*each + 36
	var s svg
	s.open(at.left+at.wide+at.values, high, at.class, f.Title)
	marks := picture.Ticks(from, top)
	if f.Y.Log {
		marks = decades(from, top)
	}
	// A unit takes room: on a phone only the last has it.
	for i, t := range marks {
		said := strconv.FormatFloat(t, 'g', 4, 64)
		if at.heading == 0 || i == len(marks)-1 {
			said += " " + f.Y.Unit
		}
		s.line("grid", x(t), 4, x(t), high-28)
		s.text("tick", x(t), high-10, "middle", said)
	}
	s.line("axis", at.left, 2, at.left, high-28)
	for c, name := range f.X.Categories {
		y := 4 + float64(c)*each
		if at.heading > 0 {
			s.text("label", at.left-12, y+at.heading-6, "start", cut(name, at.longest))
			y += at.heading
		} else {
			s.text("label", at.left-10, y+thick*float64(len(f.Series))/2+4, "end", cut(name, at.longest))
		}
		for i, one := range f.Series {
			k := slices.Index(one.X, float64(c))
			if k < 0 || !finite(one.Y[k]) {
				continue
			}
			row := y + float64(i)*thick
			said := fmt.Sprintf("%s, %s: %s %s", name, one.Name, short(one.Y[k]), f.Y.Unit)
			s.rect(fmt.Sprintf("v%d", one.Variant%Colors), at.left, row+1, x(one.Y[k])-at.left, thick-2, said)
			end := x(one.Y[k])
			if k < len(one.Lo) && k < len(one.Hi) && finite(one.Lo[k]) && finite(one.Hi[k]) {
				s.line("interval", x(one.Lo[k]), row+thick/2, x(one.Hi[k]), row+thick/2)
				end = math.Max(end, x(one.Hi[k]))
			}
			s.text("value", end+6, row+thick-4, "start", short(one.Y[k]))
		}
	}
	return s.done()
}

// barsSpan is what the axis reaches: from zero, or from the power of ten below the
// least on an axis of logarithms, on which nothing has a length of its own.
func barsSpan(f *picture.Figure) (from, top float64) {
	least := math.Inf(1)
	for _, s := range f.Series {
		for i, v := range s.Y {
			if !finite(v) {
				continue
			}
			top = math.Max(top, v)
			if v > 0 {
				least = math.Min(least, v)
			}
			if i < len(s.Hi) && finite(s.Hi[i]) && s.Hi[i] < 3*v {
				top = math.Max(top, s.Hi[i])
			}
		}
	}
	switch {
	case top <= 0 && f.Y.Log:
		return 0.1, 1
	case top <= 0:
		return 0, 1
	case f.Y.Log:
		// No further than one can see and the axis can name.
		from = math.Pow(10, math.Floor(math.Log10(math.Max(least*0.8, top*1e-9))))
	}
	return from, top
}

// decades are the powers of ten from one value to another.
func decades(lo, hi float64) []float64 {
	var all []float64
	for e := math.Ceil(math.Log10(lo) - 1e-9); e <= math.Log10(hi)+1e-9; e++ {
		all = append(all, math.Pow(10, e))
	}
	return all
}
