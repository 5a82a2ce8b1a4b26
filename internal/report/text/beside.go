package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// beside is the table of the tests beside. Where the report has one of its own of
// them, there is none.
func beside(r *compare.Report) []string {
	t, title := besideTable(r)
	if title == "" {
		return nil
	}
	table, _ := t.lines()
	return append(wrap(title, "", "  "), table...)
}

// besideTable is that table with its title, which is empty where there is none.
func besideTable(r *compare.Report) (t wide, title string) {
	own := func(s compare.Section) bool { return s.Name == "wake" && len(s.Rows) > 0 }
	if len(r.Beside) == 0 || slices.ContainsFunc(r.Sections, own) {
		return wide{}, ""
	}
	metrics := []struct{ name, metric string }{{"p50", result.RTTP50}, {"p99", result.RTTP99}}
	var tests []spec.Test
	for i := range r.Beside {
		if of := r.Beside[i].Of(); !slices.Contains(tests, of) {
			tests = append(tests, of)
		}
	}
	t.columns = make([]wideColumn, len(metrics))
	wakes := !slices.ContainsFunc(tests, func(of spec.Test) bool { return !strings.HasPrefix(of.String(), "wake ") })
	for _, of := range tests {
		label := of.String()
		if wakes { // the title says so
			label = strings.TrimPrefix(label, "wake ")
		}
		t.labels = append(t.labels, label)
		for i, m := range metrics {
			c := &t.columns[i]
			c.name, c.unit = m.name, "us"
			long, short := "n/a", "n/a"
			at := slices.IndexFunc(r.Beside, func(b compare.Beside) bool { return b.Of() == of && b.Metric == m.metric })
			if at >= 0 && r.Beside[at].Median != nil {
				b := &r.Beside[at]
				short = inUS(*b.Median)
				if long = short; b.Lo != nil && b.Hi != nil {
					long += fmt.Sprintf(" (%s to %s)", inUS(*b.Lo), inUS(*b.Hi))
				}
			}
			c.cells, c.short = append(c.cells, long), append(c.short, short)
		}
	}
	return t, "Beside: what a thread's wake-up costs here (there and back)"
}

// inUS writes nanoseconds in microseconds.
func inUS(ns float64) string { return unit.FormatIn(ns, 1e3) }
