package term

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
)

// ForestRow is one row of a forest plot: an interval from lo to hi with its estimate, on
// an axis from -span to span whose zero is in the middle, and dots where the margin is.
// What lies beyond the axis ends in an arrow. It is blank where est is NaN; where only
// lo and hi are, there is no interval.
func ForestRow(lo, est, hi, margin, span float64, width int) string {
	if width < 3 || !(span > 0) {
		return strings.Repeat(" ", max(width, 0))
	}
	at := func(v float64) int {
		return int(math.Round((v/span + 1) / 2 * float64(width-1)))
	}
	cells := []rune(strings.Repeat(" ", width))
	set := func(i int, r rune) {
		if i >= 0 && i < width {
			cells[i] = r
		}
	}
	if margin > 0 {
		for i := max(0, at(-margin)); i <= min(width-1, at(min(margin, span))); i++ {
			cells[i] = '·'
		}
	}
	middle := at(0)
	set(middle, '┊')
	if math.IsNaN(est) {
		return string(cells)
	}
	if !math.IsNaN(lo) && !math.IsNaN(hi) {
		for i := max(0, at(max(lo, -2*span))); i <= min(width-1, at(min(hi, 2*span))); i++ {
			r := '━'
			if i == middle {
				r = '╂'
			}
			cells[i] = r
		}
		if lo < -span {
			cells[0] = '◀'
		}
		if hi > span {
			cells[width-1] = '▶'
		}
	}
	switch {
	case est < -span:
		cells[0] = '◀'
	case est > span:
		cells[width-1] = '▶'
	default:
		set(at(est), '●')
	}
	return string(cells)
}

// forest is the axis that some comparisons share. Changes in percent stand by their
// logarithms, so that a half is as far from zero as the double; those in a unit by how
// many margins they are.
type forest struct {
	span  float64
	width int
}

// linked is a change on the axis.
func linked(c *compare.Comparison, v float64) float64 {
	if c.Scale == compare.Percent {
		return math.Log1p(max(v, -99.99) / 100)
	}
	if !(c.Margin > 0) {
		return math.NaN()
	}
	const each = 0.02 // as much as a margin of 2%
	return math.Copysign(math.Log1p(math.Abs(v)/c.Margin*each), v)
}

// newForest has an axis that holds all estimates, and most intervals: one that is by far
// the widest would press all others together, and ends in an arrow instead.
func newForest(rows []*compare.Comparison, width int) forest {
	f := forest{width: width, span: leastSpan}
	var reach []float64
	for _, scale := range []compare.Scale{compare.Percent, compare.Difference} {
		for _, c := range rows {
			if c.Scale != scale {
				continue
			}
			est, lo, hi := c.Shift()
			f.holds(linked(c, est))
			f.holds(2 * linked(c, c.Margin))
			reach = append(reach, math.Abs(linked(c, lo)), math.Abs(linked(c, hi)))
		}
		if len(reach) > 0 {
			break // those in percent set the axis, if there are any
		}
	}
	f.holds(upperOf(reach))
	return f
}

// leastSpan is the shortest axis to each side, as a logarithm.
const leastSpan = 0.05

// holds makes the axis long enough for a value.
func (f *forest) holds(v float64) {
	if x := math.Abs(v); x > f.span && !math.IsInf(x, 0) {
		f.span = x
	}
}

// upperOf is the value that three in four are no more than.
func upperOf(values []float64) float64 {
	values = slices.DeleteFunc(values, math.IsNaN)
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)*3/4]
}

func (f forest) row(c *compare.Comparison) string {
	est, lo, hi := c.Shift()
	return ForestRow(linked(c, lo), linked(c, est), linked(c, hi), linked(c, c.Margin), f.span, f.width)
}

// head is the axis' ends and zero.
func (f forest) head() string {
	left, right := axisEnd(math.Expm1(-f.span)), axisEnd(math.Expm1(f.span))
	half := f.width / 2
	return fmt.Sprintf("%-*s0%*s", half, clip(left, half), f.width-half-1, clip(right, f.width-half-1))
}

// axisEnd is the change at an end of the axis.
func axisEnd(share float64) string {
	switch {
	case share >= 9:
		return "x" + figure(math.Round(1+share))
	case share <= -0.9:
		return fmt.Sprintf("%.1f%%", 100*share)
	}
	return fmt.Sprintf("%+.0f%%", 100*share)
}
