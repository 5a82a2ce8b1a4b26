package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// manifold is the change in percent from which it is written as a ratio: few
// people see in +2986% that something takes 31 times as long.
const manifold = 900

// Change writes the shift with its interval: "+57% (52 to 60)", "x31.2 (x29.0
// to x33.4)", "+1.2 pp (0.9 to 1.4)" in percentage points for shares, and else the
// difference in the unit that div stands for, as unit.Scale gives it. It is
// "n/a" where nothing was estimated.
func (c *Comparison) Change(div float64) string {
	est, lo, hi := c.Shift()
	write, suffix := relative, "%"
	switch {
	case math.IsNaN(est):
		return c.nothing()
	case c.Scale == Percent && est >= manifold:
		write, suffix = ratio, ""
	case c.Scale == Percent:
	case c.Unit == unit.Share:
		write, suffix = points, " pp"
	default:
		write, suffix = func(v float64) string { return unit.FormatIn(v, div) }, ""
	}
	text := signed(write(est)) + suffix
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, write(lo), write(hi))
}

// nothing says why there is no shift: by the code of the warning that is about
// this metric alone.
func (c *Comparison) nothing() string {
	why := "no block"
	if c.N > 0 {
		why = "no figure"
	}
	for _, w := range c.Warnings {
		if w.Alone(c.taken()) || w.Code == result.Unavailable {
			why = strings.ReplaceAll(w.Code, "-", " ")
		}
	}
	return "n/a (" + why + ")"
}

// relative writes percent: whole from 10 up, with more digits towards -100,
// where little is left.
func relative(v float64) string {
	switch {
	case v < -99.995 && v > -100:
		return "<-99.99" // something is left
	case v <= -99:
		return fixed(v, 2)
	case v <= -90 || math.Abs(v) < 9.95:
		return fixed(v, 1)
	}
	return fixed(v, 0)
}

// ratio writes a change in percent as a multiple.
func ratio(percent float64) string {
	v := 1 + percent/100
	switch {
	case v < 1:
		return "x" + fixed(v, 2)
	case v < 99.5:
		return "x" + fixed(v, 1)
	}
	return "x" + fixed(v, 0)
}

// points writes a share as percentage points.
func points(share float64) string {
	v := 100 * share
	switch a := math.Abs(v); {
	case a < 0.995:
		return fixed(v, 2)
	case a < 9.95:
		return fixed(v, 1)
	}
	return fixed(v, 0)
}

// fixed writes a number with some digits after the point, and what is too
// long for a table with an exponent.
func fixed(v float64, places int) string {
	text := strconv.FormatFloat(v, 'f', places, 64)
	if len(text) > 8 {
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	if !strings.ContainsAny(text, "123456789") {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// signed puts a plus before a number that is above zero as it is written.
func signed(text string) string {
	if text[0] == '-' || text[0] == 'x' || text[0] == '<' || !strings.ContainsAny(text, "123456789") {
		return text
	}
	return "+" + text
}
