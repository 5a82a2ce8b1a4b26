package findings

import (
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/stats"
)

// What is off has failed only if its interval is off, too.
func TestFoundIsJudgedByItsInterval(t *testing.T) {
	for _, c := range []struct {
		found                stats.Interval
		pass, unsure, failed bool
	}{
		{stats.Interval{Est: 10.5, Lo: 9, Hi: 12, Level: 0.95}, true, false, false},
		{stats.Interval{Est: 13, Lo: 11, Hi: 15, Level: 0.95}, false, true, false},
		{stats.Interval{Est: 7, Lo: -3, Hi: 7.5, Level: 0.95}, false, false, true},
		{stats.Interval{Est: 13, Lo: 12.1, Hi: 15, Level: 0.95}, false, false, true},
		{stats.Interval{Est: 13}, false, false, true}, // one block, no interval
	} {
		x := compare.Check{Wanted: 10, Within: 2}
		found(&x, c.found)
		if x.Pass != c.pass || x.Unsure != c.unsure || x.Failed() != c.failed {
			t.Errorf("%+v: %+v", c.found, x)
		}
	}
}
