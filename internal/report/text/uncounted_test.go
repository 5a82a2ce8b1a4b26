package text

import (
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

// TestUncountedIsShown: a count of mishaps that no end made is no zero, which
// would be left out.
func TestUncountedIsShown(t *testing.T) {
	zero := 0.0
	why := []result.Warning{{Code: result.NotCounted, Text: "the local end did not count it"}}
	for _, c := range []struct {
		name  string
		max   *float64
		about []result.Warning
		want  bool
	}{
		{"none", &zero, nil, false},
		{"uncounted", nil, why, true},
		{"uncounted in part", &zero, why, true},
		{"not measured", nil, []result.Warning{{Code: "no-window"}}, false},
	} {
		f := summary.Figure{Test: "tcp_stream", Params: spec.Params{Size: 1}, Metric: result.Retransmits, End: result.Local, Max: c.max, Warnings: c.about}
		if got := runShows(&f); got != c.want {
			t.Errorf("%s: shown in a run: %v", c.name, got)
		}
		row := compare.Comparison{Test: f.Test, Params: f.Params, Metric: f.Metric, End: f.End, Warnings: c.about}
		row.A.Max, row.B.Max = c.max, &zero
		if got := shown(&row); got != c.want {
			t.Errorf("%s: shown in a comparison: %v", c.name, got)
		}
	}
}
