package findings

import (
	"testing"

	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// Of one block there is no interval, and none is told.
func TestNoIntervalOfOneBlock(t *testing.T) {
	for _, c := range []struct {
		s                stats.Interval
		said, plus, perc string
		has              bool
	}{
		{stats.SignedRank([]float64{8}, 0.95), "8.00 ns", "+8.00 ns", "+8.0%", false},
		{stats.MedianInterval([]float64{8, 8}, 0.95), "8.00 ns (8.00 to 8.00)", "+8.00 ns (8.00 to 8.00)", "+8.0% (8.0 to 8.0)", true},
		{stats.Interval{Est: 8, Lo: 7, Hi: 9}, "8.00 ns (7.00 to 9.00)", "+8.00 ns (7.00 to 9.00)", "+8.0% (7.0 to 9.0)", true},
	} {
		if got := say(c.s, unit.Nanoseconds); got != c.said {
			t.Errorf("%q, want %q", got, c.said)
		}
		if got := plus(c.s); got != c.plus {
			t.Errorf("%q, want %q", got, c.plus)
		}
		if got := percents(c.s); got != c.perc {
			t.Errorf("%q, want %q", got, c.perc)
		}
		if d := ranged(c.s, ""); (d.Lo != nil) != c.has || d.Value == nil {
			t.Errorf("%+v", d)
		}
	}
}
