package picture

import (
	"fmt"
	"math"

	"netdelta/internal/compare"
	"netdelta/internal/stages"
	"netdelta/internal/unit"
)

// staged are the stages of each test that was watched: a bar for each variant, and the
// way from the baseline to each other one.
func staged(d *compare.Document) (all []Figure) {
	var tables []stages.Table
	if d.Report != nil {
		tables = d.Report.Stages
	} else if d.Summary != nil {
		tables = d.Summary.Stages
	}
	for i := range tables {
		t := &tables[i]
		all = append(all, stacked(t))
		for k := range t.Changes {
			if f, ok := waterfall(t, k); ok {
				all = append(all, f)
			}
		}
	}
	return all
}

// stacked divides the typical round trip of each variant into its stages.
func stacked(t *stages.Table) Figure {
	test := t.TestOf().String()
	f := Figure{Name: nameOf("stages", test, t.Under), Kind: Spans, Title: titled("Where the time goes: "+test, t.Under),
		About: "A typical round trip from the request's call to the answer's return, divided into its stages: the request's way, then the answer's.",
		X:     Axis{Label: "time since the request"}}
	var totals []float64
	for i := range t.Variants {
		totals = append(totals, t.Variants[i].TotalNS)
	}
	div, in := unit.Scale(unit.Nanoseconds, totals...)
	f.X.Unit = in
	for i := range t.Variants {
		v := &t.Variants[i]
		name := v.Name
		if name == "" {
			name = "this run"
		}
		f.Y.Categories = append(f.Y.Categories, name)
		at := 0.0
		for k := range t.Stages {
			if v.PartsNS[k] <= 0 {
				continue
			}
			s := &t.Stages[k]
			kind := stages.KindOf(s)
			where := ""
			if s.End != "" {
				where = ", " + s.End + " end"
			}
			f.Spans = append(f.Spans, Span{Row: i, From: at / div, To: (at + v.PartsNS[k]) / div, Color: kind.Place, Name: kind.Name, Mark: kind.Letter,
				Said:  fmt.Sprintf("%s, %s%s: %s (%.0f%%)", name, s.Label(), where, unit.Format(v.PartsNS[k], unit.Nanoseconds), 100*v.PartsNS[k]/v.TotalNS),
				Value: unit.Format(v.TotalNS, unit.Nanoseconds)})
			at += v.PartsNS[k]
		}
	}
	return f
}

// Colours of the steps of a waterfall.
const (
	stepWhole = 6
	stepMore  = 1
	stepLess  = 2
)

// waterfall leads from the baseline's round trip to another variant's.
func waterfall(t *stages.Table, i int) (Figure, bool) {
	c := &t.Changes[i]
	steps := t.Steps(i)
	if len(steps) == 0 {
		return Figure{}, false
	}
	test := t.TestOf().String()
	f := Figure{Name: nameOf("waterfall", test, t.Under, c.Variant), Kind: Spans, Title: titled(fmt.Sprintf("From %s to %s: %s", c.Baseline, c.Variant, test), t.Under),
		About: "What each stage adds to a typical round trip or takes from it, one after the other, and the whole: > is the request's way, < the answer's. Means, which add up.",
		X:     Axis{Label: "change"}}
	var ends []float64
	for _, s := range steps {
		ends = append(ends, s.From, s.To)
	}
	div, in := unit.Scale(unit.Nanoseconds, ends...)
	f.X.Unit = in
	for k, s := range steps {
		f.Y.Categories = append(f.Y.Categories, s.Name)
		x := Span{Row: k, From: s.From / div, To: s.To / div, Color: stepMore, Name: "more", Mark: "+"}
		sign := "+"
		switch {
		case s.Whole:
			x.Color, x.Name, x.Mark = stepWhole, "the whole", "#"
		case s.To < s.From:
			x.Color, x.Name, x.Mark = stepLess, "less", "-"
		}
		if s.To < s.From {
			sign = "-"
		}
		x.Value = sign + unit.Format(math.Abs(s.To-s.From), unit.Nanoseconds)
		x.Said = s.Name + ": " + x.Value
		f.Spans = append(f.Spans, x)
	}
	return f, true
}
