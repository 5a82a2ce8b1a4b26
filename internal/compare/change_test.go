package compare

import (
	"math"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

func TestChange(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		scale       Scale
		unit        unit.Unit
		est, lo, hi float64
		div         float64
		want        string
	}{
		{Percent, unit.Nanoseconds, 57.1, 52.0, 60.2, 1, "+57% (52 to 60)"},
		{Percent, unit.Nanoseconds, -3.14, -8, 2.06, 1, "-3.1% (-8.0 to 2.1)"},
		{Percent, unit.Nanoseconds, 9.95, 9.94, 10, 1, "+10% (9.9 to 10)"},
		{Percent, unit.Nanoseconds, -9.96, -10.4, 0, 1, "-10% (-10 to 0.0)"},
		{Percent, unit.Nanoseconds, 0, 0, 0, 1, "0.0% (0.0 to 0.0)"},
		{Percent, unit.Nanoseconds, -0.04, -0.04, 0.04, 1, "0.0% (0.0 to 0.0)"},
		{Percent, unit.Nanoseconds, 12, nan, nan, 1, "+12%"},
		{Percent, unit.Nanoseconds, nan, nan, nan, 1, "n/a (no block)"},
		{Percent, unit.Nanoseconds, 899, 800, 950, 1, "+899% (800 to 950)"},
		// 181 us against 5585 us: 31 times, and nothing like a hundred.
		{Percent, unit.Nanoseconds, 2985.6, 2800, 3200, 1, "x30.9 (x29.0 to x33.0)"},
		{Percent, unit.Nanoseconds, 99900, -50, 200000, 1, "x1000 (x0.50 to x2001)"},
		{Percent, unit.Nanoseconds, 1e300, 1e299, nan, 1, "x1.0e+298"},
		{Percent, unit.BitsPerSecond, -92.84, -93.26, -89.6, 1, "-92.8% (-93.3 to -90)"},
		{Percent, unit.BitsPerSecond, -99.98, -99.994, -99, 1, "-99.98% (-99.99 to -99.00)"},
		{Difference, unit.Share, 0.012, 0.0094, 0.0137, 1, "+1.2 pp (0.94 to 1.4)"},
		{Difference, unit.Share, -0.25, -0.3, -0.0999, 1, "-25 pp (-30 to -10)"},
		{Percent, unit.BitsPerSecond, -99.998, -99.999, -99.994, 1, "<-99.99% (<-99.99 to -99.99)"},
		{Difference, unit.Share, 0, 0, 0.00001, 1, "0.00 pp (0.00 to 0.00)"},
		{Difference, unit.PerSecond, 1500, -250, 2000, 1000, "+1.50 (-0.250 to 2.00)"},
		{Difference, unit.PerSecond, 0, 0, 0, 1, "0 (0 to 0)"},
		{Difference, unit.PerSecond, -5, -5, -5, 1, "-5.00 (-5.00 to -5.00)"},
	} {
		x := Comparison{Scale: c.scale, Unit: c.unit}
		if c.scale == Percent {
			x.DeltaPct, x.LoPct, x.HiPct = number(c.est), number(c.lo), number(c.hi)
		} else {
			x.Delta, x.Lo, x.Hi = number(c.est), number(c.lo), number(c.hi)
		}
		if got := x.Change(c.div); got != c.want {
			t.Errorf("%s %s %v (%v to %v): got %q, want %q", c.scale, c.unit, c.est, c.lo, c.hi, got, c.want)
		}
	}
}

func TestChangeSaysWhyThereIsNone(t *testing.T) {
	c := Comparison{Metric: "rtt_p99", Scale: Percent, N: 3}
	if got, want := c.Change(1), "n/a (no figure)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Warnings = []result.Warning{{Code: "own-cpu"}, {Code: "few-samples", Metric: "rtt_p99"}}
	if got, want := c.Change(1), "n/a (few samples)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
