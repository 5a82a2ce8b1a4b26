package text

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// notes explains what the tables leave unsaid, and only what they use.
func notes(r *compare.Report) []Item {
	if brief(r) {
		return briefNotes(r)
	}
	var rows []compare.Comparison
	for _, c := range slices.Concat(r.Comparisons, r.Effects) {
		if shown(&c) {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	of := evidenceOf(r, rows)
	text := fmt.Sprintf("%s, %s.", of.change, interval(rows, of.few, r.Level()))
	if r.Posted {
		text = postedNote(rows, text)
	}
	if slices.ContainsFunc(rows, verdictIs(compare.Better, compare.Worse, compare.Same)) {
		text += " The interval is the row's own; the verdict is for all rows together."
	}
	if r.PrecisionPct > 0 {
		text += fmt.Sprintf(" A run that may stop by precision is judged at %.0f%%, so that what it says keeps 95%%.", 100*r.Level())
	}
	if len(r.Compared()) > 1 && !r.Posted {
		text += " Each factor is compared over all levels of the others."
	}
	text += withinNote(r)
	if note := slow(r); note != "" {
		text += " " + note
	}
	all := []Item{flush(text)}
	if at := ends(rows); at != "" {
		all = append(all, flush(at))
	}
	if !r.Posted && slices.ContainsFunc(rows, func(c compare.Comparison) bool {
		return c.Metric == result.Offered && !c.Of().OpenLoop() && c.Of().Params.Pacing == 0 &&
			!slices.Contains(c.Varied, "rate") && !slices.Contains(c.Varied, "pacing")
	}) {
		all = append(all, flush("UDP streams run at full speed: loss is what is lost at that, and how fast the sender ran (offered) is part of it."))
	}
	if demand := serviceDemand(rows); demand != "" {
		all = append(all, hanging(demand))
	}
	all = append(all, marks(r)...)
	for _, term := range []struct {
		word, meaning string
		used          func(compare.Comparison) bool
	}{
		{"same", "the interval lies inside " + margins(r, rows), verdictIs(compare.Same)},
		{"same*", "so it does, yet it differs from zero", func(c compare.Comparison) bool { return c.Real }},
		{"better, worse", judged(r, of.family, len(rows)),
			verdictIs(compare.Better, compare.Worse)},
		{"unsure N", of.needed(), verdictIs(compare.Unsure)},
		{"cpu", "CPU time beyond the idle baseline: cpu_per_op and cpu_per_byte, as the unit says", func(c compare.Comparison) bool { return shortened(c.Metric) != c.Metric }},
		{"-> <-", "of what goes to the remote end, and comes from there", func(c compare.Comparison) bool { a := arrow(&c, rows); return a == " ->" || a == " <-" }},
		{"pp", "percentage points", func(c compare.Comparison) bool { return c.Scale == compare.Difference && c.Unit == unit.Share }},
		{"!", "see the warnings", func(c compare.Comparison) bool { return len(c.Warnings) > 0 }},
	} {
		if slices.ContainsFunc(rows, term.used) {
			all = append(all, meaning(term.word, term.meaning))
		}
	}
	return all
}

// withinNote says what conditions are, with a blank before it.
func withinNote(r *compare.Report) string {
	var names []string
	for _, f := range r.Conditions() {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" All is compared within each %s, and judged over all of them together.", strings.Join(names, " and "))
}

// slow says what the comparisons of slow factors rest on.
func slow(r *compare.Report) string {
	var names []string
	for _, f := range r.Compared() {
		if f.Slow {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 || len(names) == len(r.Compared()) {
		return ""
	}
	return fmt.Sprintf("%s: slow, so each level is set once a block for all variants that have it. Its change has fewer independent repetitions than trials (one a block), and its interval tends to be wider for that.",
		strings.Join(names, ", "))
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
	if r.Pairing == compare.ByBoot {
		return evidence{
			change: "Figures are medians over boots, of each boot's median over its trials. The change is the difference between the means of the sides' boots (of logarithms where it is relative), by Welch's t",
			few:    "boots", each: "boots on each side", family: "report", none: min(r.BootsA, r.BootsB) < compare.MinBoots,
		}
	}
	return evidence{
		change: "Figures are medians over blocks. The change is the shift within blocks",
		few:    "blocks", each: "blocks", family: "run", none: r.Blocks < r.Fewest(),
	}
}

func (e evidence) needed() string {
	if e.none {
		return "a verdict needs at least N " + e.each
	}
	return fmt.Sprintf("neither; about N %s would settle it", e.each)
}

func verdictIs(verdicts ...compare.Verdict) func(compare.Comparison) bool {
	return func(c compare.Comparison) bool { return slices.Contains(verdicts, c.Verdict) }
}

// judged says what p is adjusted for.
func judged(r *compare.Report, family string, shown int) string {
	n := r.Families.Main
	text := fmt.Sprintf("p below %.0f%%, adjusted for the %s of this %s", 100*(1-r.Level()), unit.Count(n, "main figure"), family)
	if n > shown {
		text += fmt.Sprintf(" (%d not shown, since nothing happened)", n-shown)
	}
	if r.Families.Detail > 0 {
		text += fmt.Sprintf(", and apart from its %s in the JSON form", unit.Count(r.Families.Detail, "detail"))
	}
	return text
}

// interval says how sure the rows' intervals are.
func interval(rows []compare.Comparison, few string, level float64) string {
	least, most := 1.0, 0.0
	for _, c := range rows {
		if c.Confidence > 0 {
			least = min(least, c.Confidence)
		}
		most = max(most, c.Confidence)
	}
	switch {
	case most == 0:
		return "with no interval from one " + strings.TrimSuffix(few, "s")
	case most < level:
		return fmt.Sprintf("with the widest interval that so few %s give (%s)", few, levels(least, most))
	case least < level:
		return fmt.Sprintf("with its %.0f%% interval, or the widest there is (from %.0f%%) where few %s have a figure", 100*level, 100*least, few)
	}
	return fmt.Sprintf("with its %.0f%% interval", 100*level)
}

// levels writes a range of confidence.
func levels(least, most float64) string {
	if math.Round(1000*least) == math.Round(1000*most) {
		return fmt.Sprintf("%.3g%%", 100*least)
	}
	return fmt.Sprintf("%.3g to %.3g%%", 100*least, 100*most)
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
