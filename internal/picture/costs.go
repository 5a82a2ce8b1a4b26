package picture

import (
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// bar is a cost of a test at an end, under one variant.
type bar struct {
	label, variant string
	y, lo, hi      float64
}

// costs are CPU time for each round trip, and for each byte, of all tests at both ends.
func costs(d *compare.Document) []Figure {
	var all []Figure
	for _, of := range []struct {
		metric, title string
		unit          unit.Unit
	}{
		{result.CPUPerOp, "CPU time for each round trip", unit.SecondsPerOp},
		{result.CPUPerByte, "CPU time for each byte", unit.SecondsPerByte},
		{result.CPUUtil, "CPU of the host", unit.Share},
	} {
		var bars []bar
		if d.Report != nil {
			for i := range d.Report.Comparisons {
				c := &d.Report.Comparisons[i]
				if c.Metric != of.metric {
					continue
				}
				label := strings.TrimSpace(c.Name() + " " + c.End)
				bars = append(bars, bar{label, c.Baseline, or(c.A.Median), or(c.A.Lo), or(c.A.Hi)}, bar{label, c.Variant, or(c.B.Median), or(c.B.Lo), or(c.B.Hi)})
			}
		} else if d.Summary != nil {
			for i := range d.Summary.Figures {
				f := &d.Summary.Figures[i]
				if f.Metric == of.metric {
					label := f.TestOf().String()
					if f.Under != "" {
						label += " (" + f.Under + ")"
					}
					bars = append(bars, bar{label + " " + f.End, "this run", or(f.Median), or(f.Lo), or(f.Hi)})
				}
			}
		}
		if f, ok := barsOf(bars, of.unit, d.Variants()); ok {
			f.Name, f.Title = "cost."+safe(of.metric), of.title
			f.About = "At each end, the median with its interval. Lower is cheaper."
			f.Y.Label = of.metric
			all = append(all, f)
		}
	}
	return all
}

// barsOf makes a figure of bars, a group for each label and a bar for each variant.
func barsOf(bars []bar, u unit.Unit, order []string) (Figure, bool) {
	f := Figure{Kind: Bars}
	var values []float64
	for _, b := range bars {
		if finite(b.y) {
			values = append(values, b.y)
		}
	}
	if len(values) == 0 {
		return f, false
	}
	div, in := unit.Scale(u, values...)
	f.Y.Unit = in
	f.Y.Log = ratio(values) > 50
	place := func(label string) int {
		for i, c := range f.X.Categories {
			if c == label {
				return i
			}
		}
		f.X.Categories = append(f.X.Categories, label)
		return len(f.X.Categories) - 1
	}
	for _, b := range bars {
		if !finite(b.y) {
			continue
		}
		x := float64(place(b.label))
		i := 0
		for i < len(f.Series) && f.Series[i].Name != b.variant {
			i++
		}
		if i == len(f.Series) {
			f.Series = append(f.Series, Series{Name: b.variant, Variant: placeOf(order, b.variant, i)})
		}
		s := &f.Series[i]
		if has(s.X, x) {
			continue // a baseline stands in the rows of every level
		}
		s.X, s.Y = append(s.X, x), append(s.Y, b.y/div)
		lo, hi := b.lo/div, b.hi/div
		if !finite(lo) || !finite(hi) {
			lo, hi = b.y/div, b.y/div
		}
		s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
	}
	return f, true
}

func has(all []float64, v float64) bool {
	for _, x := range all {
		if x == v {
			return true
		}
	}
	return false
}
