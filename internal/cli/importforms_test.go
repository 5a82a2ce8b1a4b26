package cli

import (
	"bytes"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	"netdelta/internal/summary"
)

// Other programs' figures can be written in every form, compared and alone.
func TestImportsInEveryForm(t *testing.T) {
	a, b := keptOf(outcome("a.txt", 100, 101), []byte("a")), keptOf(outcome("b.txt", 200, 202), []byte("b"))
	r, err := compared([]side{{runs: []compare.Kept{a}, files: []string{"a.txt"}}, {runs: []compare.Kept{b}, files: []string{"b.txt"}}}, nil, compare.RunsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := summary.Build(a.Run, a.Trials)
	for _, d := range []compare.Document{{Report: &r, Kept: []compare.Kept{a, b}}, {Summary: &s, Kept: []compare.Kept{a}}} {
		for _, f := range report.Formats() {
			if f.Name == "trace" {
				continue // of what netdelta itself has watched
			}
			var out bytes.Buffer
			if err := f.Render(&out, &d, report.Options{}); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
			if !strings.Contains(strings.ToLower(out.String()), "netperf") {
				t.Errorf("%s: no test in it:\n%s", f.Name, out.String())
			}
		}
	}
}
