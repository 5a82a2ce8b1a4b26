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
	tables := slices.Concat(rows(r), experiment(r))
	if brief(r) {
		tables = slices.Concat(experiment(r), rows(r))
	}
	return write(w, slices.Concat([][]string{lay(lead(r)), differs(r), lay(whatRan(r)), checks(r)}, tables, [][]string{beside(r)}, stageTexts(r.Stages), streamTexts(r.Streams), each(r),
		[][]string{overTime(r), lay(notes(r)), lay(warnings(r)), onTheWay(r), facts(r), command(r)}))
}

// write writes the parts that have lines as paragraphs.
func write(w io.Writer, parts [][]string) error {
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

// rows are the tables of comparisons, or a line in their place.
func rows(r *compare.Report) [][]string {
	if brief(r) {
		return [][]string{lay(inFull(r))}
	}
	var all [][]string
	for _, alike := range blocks(r) {
		all = append(all, sections(alike)...)
	}
	return all
}

// blocks are the tables of comparisons, those of one shape together.
func blocks(r *compare.Report) [][]block {
	var tables, both []block
	for _, l := range r.Levels() {
		tables = append(tables, comparisons(r, l))
	}
	for _, l := range r.Interactions() {
		both = append(both, interactions(r, l))
	}
	return [][]block{tables, both, simple(r), {cells(r)}, {spreads(r)}}
}

// whatRan tells how the figures came about.
func whatRan(r *compare.Report) []Item {
	if r.Posted {
		return postedSources(r)
	}
	if r.Separate() {
		return append(sources(r), comparedSpeeds(r)...)
	}
	variants, order := 1, "once a block in random order"
	var names []string
	for _, f := range slices.Concat(r.Compared(), r.Conditions()) {
		variants *= len(f.Levels)
		name := fmt.Sprintf("%s (%s)", f.Name, strings.Join(f.Levels, ", "))
		if f.Slow {
			name += " slow"
			order = "once a block in random order, in whole plots of the slow factors' levels"
		}
		if f.Condition {
			name = "within " + name
		}
		names = append(names, name)
	}
	title := r.Experiment
	if r.Question != "" {
		title += ": " + r.Question
	}
	blocks := unit.Count(r.Blocks, "block")
	if r.Blocks != r.Planned {
		most := ""
		if r.Ended != "" {
			most = "at most "
		}
		blocks = fmt.Sprintf("%d of %s%s", r.Blocks, most, unit.Count(r.Planned, "block"))
	}
	of := unit.Count(variants, "variant")
	if r.Variants > 0 && r.Variants != variants {
		of = fmt.Sprintf("%d of %s", r.Variants, of)
	}
	return slices.Concat(
		items(title),
		[]Item{flush(fmt.Sprintf("Varied: %s. %s of %s and %s, every variant %s (seed %d); %s, each %v long after %v of warm-up.",
			strings.Join(names, "; "), blocks, of, unit.Count(countTests(r), "test"), order, r.Seed,
			unit.Count(r.Trials, "trial"), time.Duration(r.WindowNS), time.Duration(r.WarmupNS)))},
		ended(r),
		comparedSpeeds(r))
}

// ended says what ended a run that need not run all of its blocks.
func ended(r *compare.Report) []Item {
	widest := ""
	if r.WidestOf != "" {
		widest = fmt.Sprintf(" (the widest is +-%.2g%%, %s)", r.WidestPct, r.WidestOf)
	}
	switch {
	case r.Ended == compare.EndedPrecision:
		return items(fmt.Sprintf("Ended since the intervals that matter reach no further than %g%%%s.", r.PrecisionPct, widest))
	case r.Ended == compare.EndedTime:
		return items("Ended since the time for it was over" + widest + ".")
	}
	return nil
}

// countTests is how many tests the report compares. Under conditions, which may set
// parameters, those of the first are counted.
func countTests(r *compare.Report) int {
	var tests []spec.Test
	for _, c := range r.Comparisons {
		if t := c.Of(); !slices.Contains(tests, t) && (len(r.Conditions()) == 0 || c.Under == r.Comparisons[0].Under) {
			tests = append(tests, t)
		}
	}
	return len(tests)
}
