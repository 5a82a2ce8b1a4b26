package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Render writes the report as text.
func Render(w io.Writer, r *compare.Report) error {
	parts := [][]string{answer(r), differs(r), whatRan(r)}
	var tables, both []block
	for _, l := range r.Levels() {
		tables = append(tables, comparisons(r, l))
	}
	for _, l := range r.Interactions() {
		both = append(both, interactions(r, l))
	}
	parts = slices.Concat(parts, sections(tables), sections(both), sections([]block{spreads(r)}),
		[][]string{notes(r), warnings(r), onTheWay(r), facts(r), command(r)})
	var paragraphs []string
	for _, lines := range parts {
		// Names of nothing but blanks can leave a line empty.
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		if len(lines) > 0 {
			paragraphs = append(paragraphs, strings.Join(lines, "\n")+"\n")
		}
	}
	_, err := io.WriteString(w, strings.Join(paragraphs, "\n"))
	return err
}

// answer is what the report says in words.
func answer(r *compare.Report) []string {
	var lines []string
	for _, sentence := range r.Answer() {
		lines = append(lines, wrap(sentence, "", "  ")...)
	}
	return lines
}

// whatRan tells how the figures came about.
func whatRan(r *compare.Report) []string {
	if r.Pairing == compare.Unpaired {
		return append(sources(r), comparedSpeeds(r)...)
	}
	variants := 1
	var names []string
	for _, f := range r.Factors {
		variants *= len(f.Levels)
		names = append(names, fmt.Sprintf("%s (%s)", f.Name, strings.Join(f.Levels, ", ")))
	}
	title := r.Experiment
	if r.Question != "" {
		title += ": " + r.Question
	}
	blocks := unit.Count(r.Blocks, "block")
	if r.Blocks != r.Planned {
		blocks = fmt.Sprintf("%d of %s", r.Blocks, unit.Count(r.Planned, "block"))
	}
	return slices.Concat(
		wrap(title, "", "  "),
		wrap(fmt.Sprintf("Varied: %s. %s of %s and %s, every variant once a block in random order (seed %d); %s, each %v long after %v of warm-up.",
			strings.Join(names, "; "), blocks, unit.Count(variants, "variant"), unit.Count(countTests(r), "test"), r.Seed,
			unit.Count(r.Trials, "trial"), time.Duration(r.WindowNS), time.Duration(r.WarmupNS)), "", ""),
		comparedSpeeds(r))
}

func countTests(r *compare.Report) int {
	var tests []spec.Test
	for _, c := range r.Comparisons {
		if t := c.Of(); !slices.Contains(tests, t) {
			tests = append(tests, t)
		}
	}
	return len(tests)
}
