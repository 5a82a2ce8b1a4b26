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
	of := evidenceOf(r, rows)
	text := fmt.Sprintf("%s, with %s.", of.change, interval(rows, of.few))
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
		{"better, worse", fmt.Sprintf("p below 5%%, adjusted for all %d figures of this %s (%d shown)", len(all), of.family, len(rows)),
			verdictIs(compare.Better, compare.Worse)},
		{"unsure N", of.needed(), verdictIs(compare.Unsure)},
		{"pp", "percentage points", func(c *compare.Comparison) bool { return c.Scale == compare.Difference && c.Unit == unit.Share }},
		{"!", "see the warnings", func(c *compare.Comparison) bool { return len(c.Warnings) > 0 }},
	} {
		if slices.ContainsFunc(rows, func(c compare.Comparison) bool { return term.used(&c) }) {
			lines = append(lines, wrap(term.meaning, fmt.Sprintf("  %-13s  ", term.word), strings.Repeat(" ", 17))...)
		}
	}
	return lines
}

// evidence is what a report's figures rest on, in words.
type evidence struct {
	change string // what the change is
	few    string // what is short where an interval is too wide
	each   string // what N counts
	family string // what the family of figures is called
	none   bool   // there is too little of it for any verdict
}

func evidenceOf(r *compare.Report, rows []compare.Comparison) evidence {
	if r.Pairing == compare.Unpaired {
		bears := func(c compare.Comparison) bool { return c.Confidence >= 0.95 }
		return evidence{
			change: "Figures are medians over trials. The change is the shift between the sides' trials, unpaired",
			few:    "trials", each: "trials on each side", family: "report", none: !slices.ContainsFunc(rows, bears),
		}
	}
	return evidence{
		change: "Figures are medians over blocks. The change is the shift within blocks",
		few:    "blocks", each: "blocks", family: "run", none: r.Blocks < spec.MinBlocks,
	}
}

func (e evidence) needed() string {
	if e.none {
		return "a verdict needs at least N " + e.each
	}
	return fmt.Sprintf("neither; about N %s would settle it", e.each)
}

func verdictIs(verdicts ...compare.Verdict) func(*compare.Comparison) bool {
	return func(c *compare.Comparison) bool { return slices.Contains(verdicts, c.Verdict) }
}

// interval names the confidence that the rows really have.
func interval(rows []compare.Comparison, few string) string {
	least := 1.0
	for _, c := range rows {
		if c.Confidence > 0 {
			least = min(least, c.Confidence)
		}
	}
	if least < 0.95 {
		return fmt.Sprintf("the widest interval that so few %s give (%.0f%%)", few, 100*least)
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
