package findings

import (
	"fmt"
	"math"

	"netdelta/internal/compare"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// number is a cell with a figure; n/a for the reason given where there is none.
func number(v float64, why string) compare.Datum {
	if !finite(v) {
		return none(why)
	}
	return compare.Datum{Value: &v}
}

// ranged is a cell with a figure and its interval, if that has bounds.
func ranged(s stats.Interval, why string) compare.Datum {
	d := number(s.Est, why)
	if d.Value != nil && wide(s) {
		d.Lo, d.Hi = &s.Lo, &s.Hi
	}
	return d
}

// changed is a cell with the change of a comparison and its verdict.
func changed(c *compare.Comparison) compare.Datum {
	if c == nil {
		return none("not compared")
	}
	est, lo, hi := c.Shift()
	d := ranged(stats.Interval{Est: est, Lo: lo, Hi: hi}, "no figure")
	if d.Value != nil {
		d.Verdict = c.Verdict
	}
	return d
}

// words is a cell with a text.
func words(text string) compare.Datum { return compare.Datum{Text: text} }

// none is a cell that is n/a, with the reason.
func none(why string) compare.Datum {
	if why == "" {
		why = "not measured"
	}
	return words("n/a (" + why + ")")
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// say writes an estimate with its interval in a unit: "16.1 us (12.0 to 20.0)".
func say(s stats.Interval, u unit.Unit) string {
	div, label := unit.Scale(u, s.Est)
	text := unit.Cell(s.Est, u, div)
	if label != "" {
		text += " " + label
	}
	if !wide(s) {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, unit.Cell(s.Lo, u, div), unit.Cell(s.Hi, u, div))
}

// percents writes a change in percent with its interval: "+57% (52 to 60)".
func percents(s stats.Interval) string {
	c := compare.Comparison{Scale: compare.Percent}
	if finite(s.Est) {
		c.DeltaPct = &s.Est
	}
	if wide(s) {
		c.LoPct, c.HiPct = &s.Lo, &s.Hi
	}
	return c.Change(1)
}

// wide says that an estimate has an interval: of a single block, at no level at all,
// the bounds are the estimate itself.
func wide(s stats.Interval) bool {
	return finite(s.Lo) && finite(s.Hi) && (s.Lo < s.Hi || s.Level > 0)
}

// plus writes a difference in ns with its interval: "+16.1 us (12.0 to 20.0)".
func plus(d stats.Interval) string {
	text := say(d, unit.Nanoseconds)
	if d.Est > 0 {
		return "+" + text
	}
	return text
}

// deref is what a nullable figure holds, NaN for null.
func deref(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}
