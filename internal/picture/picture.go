// Package picture says what can be drawn of a report: each figure as data, with its
// axes, series and rows, for whatever draws it. It is pure.
package picture

import (
	"slices"

	"netdelta/internal/compare"
)

// Kind is how a figure is drawn.
type Kind string

const (
	// Forest is a row for each comparison: its interval, and the margin around zero.
	Forest Kind = "forest"
	// Lines are series of points that are joined (steps where a series says so).
	Lines Kind = "lines"
	// Points are series of points that are not.
	Points Kind = "points"
	// Bars are groups of bars, a group for each category of X and a bar for each series.
	Bars Kind = "bars"
	// Spans are horizontal bars from one value of X to another, some in a row, a row for
	// each category of Y.
	Spans Kind = "spans"
)

// Figure is one figure. Values are finite, or NaN where there is none.
type Figure struct {
	// Name is what it is asked for by: "forest", "ecdf.udp_rr-size=1". It has
	// nothing in it that a file's name can't have.
	Name  string
	Kind  Kind
	Title string
	// About is a sentence on what it shows, and what to look for.
	About string
	X, Y  Axis
	// Series are for all kinds but Forest.
	Series []Series
	// Rows are for Forest alone.
	Rows []Row
	// Spans are for Spans alone.
	Spans []Span
}

// Span is one bar of a row.
type Span struct {
	Row      int // category of Y
	From, To float64
	// Color is a number of a colour, as Series.Variant is; spans of one Name have one.
	Color int
	Name  string
	// Mark is a character that stands for it where bars are made of those.
	Mark string
	// Said is what the span is, in words; Value stands behind the last of a row.
	Said, Value string
}

// Names are those of a figure's spans, in their order, each once, with its colour.
func (f *Figure) Names() (names []string, colors []int) {
	for _, s := range f.Spans {
		if !slices.Contains(names, s.Name) {
			names, colors = append(names, s.Name), append(colors, s.Color)
		}
	}
	return names, colors
}

// Drawn says that the span has both ends.
func (s *Span) Drawn() bool { return finite(s.From) && finite(s.To) }

// SpanRange is what the X axis of spans reaches: zero, and all of them.
func (f *Figure) SpanRange() (lo, hi float64) {
	for _, s := range f.Spans {
		if s.Drawn() {
			lo, hi = min(lo, s.From, s.To), max(hi, s.From, s.To)
		}
	}
	if lo == hi {
		hi = lo + 1
	}
	return lo, hi
}

// Axis is an axis with the unit that its values are in already.
type Axis struct {
	Label string
	Unit  string // as unit.Scale labels it; empty for none
	Log   bool
	// Categories are the names of a category axis, whose values are 0, 1, ...; or
	// names of chosen values where Ticks has those.
	Categories []string
	Ticks      []float64
}

// Series is one line, set of points, or bar of each group.
type Series struct {
	Name string
	// Variant is the place of its variant among the report's, 0 for the baseline: the
	// same in all figures of a report, so that a variant has one colour.
	Variant int
	X, Y    []float64
	// Lo and Hi are intervals of Y; nil for none.
	Lo, Hi []float64
	Step   bool
}

// Row is a comparison in a forest. Est, Lo and Hi are in percent, NaN where there are
// none.
type Row struct {
	Group, Label string
	Est, Lo, Hi  float64
	// Margin is the smallest change that matters, in percent.
	Margin  float64
	Change  string // as text
	Verdict compare.Verdict
	Better  string // "lower" or "higher"
}
