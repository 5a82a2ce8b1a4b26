package cli

import (
	"slices"
	"strings"
	"testing"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// What a run that goes on with another has to say of that, and keeps saying.
func TestResumedWarnings(t *testing.T) {
	run := func(blocks int, kernel string) *result.Run {
		return &result.Run{ID: "old", Plan: &spec.Plan{Blocks: blocks}, Environments: []result.Environment{
			{End: result.Local, Facts: []result.Fact{{Name: "kernel", Value: kernel}}}}}
	}
	before := run(24, "1")
	before.Warnings = []result.Warning{{Code: codeExtended, Text: "earlier"}, {Code: "interrupted"}}
	for _, c := range []struct {
		name     string
		old, new *result.Run
		trials   int
		want     []string // codes
		says     string
	}{
		{"of none", nil, run(24, "1"), 0, nil, ""},
		{"alike", run(24, "1"), run(24, "1"), 5, nil, ""},
		{"fewer blocks", run(24, "1"), run(12, "1"), 5, nil, ""},
		{"more blocks", run(24, "1"), run(48, "1"), 5, []string{codeExtended}, "24 blocks were planned, and 48"},
		{"more blocks than nothing", run(24, "1"), run(48, "1"), 0, nil, ""},
		{"another kernel", run(24, "1"), run(24, "2"), 5, []string{codePartsDiffer}, "with whose 5 trials this one went on: local kernel was 1 and is 2"},
		{"said before", before, run(24, "1"), 5, []string{codeExtended}, "earlier"},
	} {
		var codes, texts []string
		for _, w := range resumedWarnings(c.old, c.new, c.trials) {
			codes, texts = append(codes, w.Code), append(texts, w.Text)
		}
		if !slices.Equal(codes, c.want) || !strings.Contains(strings.Join(texts, "\n"), c.says) {
			t.Errorf("%s: got %q, %q", c.name, codes, texts)
		}
	}
}

func TestResumeWords(t *testing.T) {
	for line, want := range map[string]string{
		"ab plan.yaml":                         "ab plan.yaml --resume new",
		"ab --resume old plan.yaml":            "ab plan.yaml --resume new",
		"ab --resume=old plan.yaml --blocks 3": "ab plan.yaml --blocks 3 --resume new",
		"ab --a a;b":                           "ab --a 'a;b' --resume new",
	} {
		if got := strings.Join(resumeWords(strings.Fields(line), "new"), " "); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}
