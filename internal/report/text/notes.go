package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// notes explains what the tables leave unsaid, and only what they use.
func notes(r *compare.Report) []string {
	var rows []compare.Comparison
	all := slices.Concat(r.Comparisons, r.Effects)
	for _, c := range all {
		if shown(&c) {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	text := fmt.Sprintf("Figures are medians over blocks. The change is the shift within blocks, with %s.", interval(rows))
	if len(r.Factors) > 1 {
		text += " Each factor is compared over all levels of the others."
	}
	lines := append(wrap(text, "", ""), wrap(ends(rows), "", "")...)
	for _, term := range []struct {
		word, meaning string
		used          func(*compare.Comparison) bool
	}{
		{"same", "the interval lies inside " + margins(r, rows), verdictIs(compare.Same)},
		{"same*", "so it does, yet it differs from zero", func(c *compare.Comparison) bool { return c.Real }},
		{"better, worse", fmt.Sprintf("p below 5%%, adjusted for all %d figures of this run (%d shown)", len(all), len(rows)),
			verdictIs(compare.Better, compare.Worse)},
		{"unsure N", needed(r), verdictIs(compare.Unsure)},
		{"pp", "percentage points", func(c *compare.Comparison) bool { return c.Scale == compare.Difference && c.Unit == unit.Share }},
		{"!", "see the warnings", func(c *compare.Comparison) bool { return len(ownWarnings(r, c)) > 0 }},
	} {
		if slices.ContainsFunc(rows, func(c compare.Comparison) bool { return term.used(&c) }) {
			lines = append(lines, wrap(term.meaning, fmt.Sprintf("  %-13s  ", term.word), strings.Repeat(" ", 17))...)
		}
	}
	return lines
}

func needed(r *compare.Report) string {
	if r.Blocks < spec.MinBlocks {
		return "a verdict needs at least N blocks"
	}
	return "neither; about N blocks would settle it"
}

func verdictIs(verdicts ...compare.Verdict) func(*compare.Comparison) bool {
	return func(c *compare.Comparison) bool { return slices.Contains(verdicts, c.Verdict) }
}

// interval names the confidence that the rows really have.
func interval(rows []compare.Comparison) string {
	least := 1.0
	for _, c := range rows {
		if c.Confidence > 0 {
			least = min(least, c.Confidence)
		}
	}
	if least < 0.95 {
		return fmt.Sprintf("the widest interval that so few blocks give (%.0f%%)", 100*least)
	}
	return "its 95% interval"
}

// margins says what is too small to matter.
func margins(r *compare.Report, rows []compare.Comparison) string {
	text := fmt.Sprintf("+-%g%%", r.MarginPct)
	var shares bool
	counts := map[string]float64{} // metrics with a margin of their own
	for _, c := range rows {
		switch {
		case c.Scale != compare.Difference:
		case c.Unit == unit.Share:
			shares = true
		default:
			counts[c.Metric] = max(counts[c.Metric], c.Margin)
		}
	}
	if shares {
		text += fmt.Sprintf(", %g pp for shares", r.MarginPct)
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf(", %.3g/s for %s", counts[name], name)
	}
	return text
}

// ends says at which end each figure was taken.
func ends(rows []compare.Comparison) string {
	at := map[string][]string{}
	for i := range rows {
		c := &rows[i]
		if !slices.Contains(at[c.End], c.Metric) {
			at[c.End] = append(at[c.End], c.Metric)
		}
	}
	var text []string
	for _, end := range []string{result.Local, result.Remote} {
		if names := at[end]; len(names) > 0 {
			text = append(text, fmt.Sprintf("at the %s end: %s", end, strings.Join(names, ", ")))
		}
	}
	if len(text) == 0 {
		return ""
	}
	return "Taken " + strings.Join(text, "; ") + "."
}

// warnings are those about the run, and then those about rows that are shown,
// each once with the tests and levels that it is about.
func warnings(r *compare.Report) []string {
	var lines []string
	for _, w := range r.Warnings {
		lines = append(lines, wrap(w.Text+advice(w), "- ", "  ")...)
	}
	var order []result.Warning
	about := map[result.Warning][]string{}
	for _, c := range slices.Concat(r.Comparisons, r.Effects) {
		if !shown(&c) {
			continue
		}
		for _, w := range ownWarnings(r, &c) {
			if about[w] == nil {
				order = append(order, w)
			}
			test := c.Of().Short()
			if w.Metric != "" {
				test += " " + c.Metric
			}
			if name := test + " (" + c.Variant + ")"; !slices.Contains(about[w], name) {
				about[w] = append(about[w], name)
			}
		}
	}
	for _, w := range order {
		lines = append(lines, wrap(strings.Join(about[w], ", ")+": "+w.Text+advice(w), "! ", "  ")...)
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"Warnings"}, lines...)
}

// ownWarnings are the row's less those that stand for the whole run, where
// they are told once.
func ownWarnings(r *compare.Report, c *compare.Comparison) []result.Warning {
	return slices.DeleteFunc(slices.Clone(c.Warnings), func(w result.Warning) bool {
		return slices.ContainsFunc(r.Warnings, func(all result.Warning) bool {
			return all.Code == w.Code && all.Metric == w.Metric
		})
	})
}

func advice(w result.Warning) string {
	if w.Advice == "" {
		return "."
	}
	return ". Advice: " + w.Advice + "."
}
