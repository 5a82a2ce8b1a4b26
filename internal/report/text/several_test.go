package text

import (
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Of several factors with the same levels a warning says which it is about.
func TestWarningNamesTheFactor(t *testing.T) {
	one := 1.0
	row := func(factor string) compare.Comparison {
		return compare.Comparison{Test: "tcp_stream", Factor: factor, Baseline: "off:off", Variant: "on:on", Metric: "goodput", End: result.Remote,
			Scale: compare.Percent, DeltaPct: &one, Warnings: []result.Warning{{Code: "aliased", Text: "of " + factor}}}
	}
	r := compare.Report{Factors: make([]spec.Factor, 3), Effects: []compare.Comparison{row("a:b"), row("a:c")}}
	all := strings.Join(lay(warnings(&r)), "\n")
	for _, want := range []string{"(a:b on:on): of a:b", "(a:c on:on): of a:c"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
}

// An interval that falls short of its level does not look as if it had it.
func TestIntervalThatFallsShort(t *testing.T) {
	rows := []compare.Comparison{{Confidence: 1 - 2./64}}
	if got := interval(rows, "blocks", 0.97); !strings.Contains(got, "(96.9%)") {
		t.Error(got)
	}
}
