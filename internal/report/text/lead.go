package text

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/unit"
)

// brief says that the report's own tables stand for those of all rows: if it has any.
func brief(r *compare.Report) bool {
	return r.Brief && (len(r.Checks) > 0 || slices.ContainsFunc(r.Sections, func(s compare.Section) bool { return len(s.Rows) > 0 }))
}

// lead is what the report says in words: which checks did not pass, what it found of
// its own, and then what the comparisons bear unless their tables are left out.
func lead(r *compare.Report) []Item {
	sentences := slices.Clone(r.Findings)
	if len(sentences) == 0 || failures(r, 1) != "" {
		sentences = slices.Concat(checked(r), r.Findings)
	}
	first := r.Caveat()
	if r.Posted {
		sentences = slices.Concat(checked(r), r.Answer(), r.Findings)
		sentences[0] = strings.TrimPrefix(sentences[0], first)
	} else if !brief(r) || len(sentences) == 0 {
		answer := r.Answer()
		answer[0] = strings.TrimPrefix(answer[0], first)
		sentences = append(sentences, answer...)
	}
	sentences[0] = first + sentences[0]
	sentences = slices.Concat(stageLead(r.Stages), streamLead(r.Streams), sentences)
	var items []Item
	for _, s := range sentences {
		items = append(items, hanging(s))
	}
	return items
}

// inFull says where the rows are that a text leaves out.
func inFull(r *compare.Report) []Item {
	return items(fmt.Sprintf("%s in full: --format json, or --full.", unit.Count(len(r.Comparisons)+len(r.Effects), "row")))
}

// briefNotes explains what the report's own tables leave unsaid.
func briefNotes(r *compare.Report) []Item {
	all := slices.Concat(r.Comparisons, r.Effects)
	of := evidenceOf(r, all)
	text := of.change + "."
	if len(all) > 0 {
		text = fmt.Sprintf("%s, %s.", of.change, interval(all, of.few, r.Level()))
	}
	if r.PrecisionPct > 0 {
		text += fmt.Sprintf(" A run that may stop by precision is judged at %.0f%%, so that what it says keeps 95%%.", 100*r.Level())
	}
	text += withinNote(r)
	if note := slow(r); note != "" {
		text += " " + note
	}
	return append([]Item{flush(text)}, marks(r)...)
}

// marks explains the marks behind the changes of the report's own tables.
func marks(r *compare.Report) []Item {
	used := map[string]bool{}
	for _, s := range r.Sections {
		for _, row := range s.Rows {
			for _, d := range row.Cells {
				if d.Value != nil {
					used[markOf(d.Verdict)] = true
				}
			}
		}
	}
	var all []Item
	if used[different] {
		all = append(all, meaning(different, "better or worse for sure: "+judged(r, "run", r.Families.Main)))
	}
	if used[alike] {
		all = append(all, meaning(alike, fmt.Sprintf("the same: the interval lies inside +-%g%%", r.MarginPct)))
	}
	if len(all) > 0 {
		all = append(all, meaning("no mark", "unsure, or a change that is not judged by itself"))
	}
	return all
}

// Marks behind a change.
const (
	different = "*"
	alike     = "="
)

func markOf(v compare.Verdict) string {
	switch v {
	case compare.Better, compare.Worse:
		return different
	case compare.Same:
		return alike
	}
	return ""
}
