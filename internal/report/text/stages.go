package text

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/stages"
	"netdelta/internal/unit"
)

// mostStages is how many sentences about stages stand in front of a report; the others
// are with their tables.
const mostStages = 4

// stageLead says in which stages the changes are, the tests in their order, those
// changes first that are sure.
func stageLead(tables []stages.Table) []string {
	var sure, unsure []string
	for i := range tables {
		t := &tables[i]
		for k := range t.Changes {
			if c := &t.Changes[k]; c.Total.Sure() {
				sure = append(sure, t.Sentence(c))
			} else {
				unsure = append(unsure, t.Sentence(c))
			}
		}
	}
	all := append(sure, unsure...)
	if more := len(all) - mostStages; more > 0 {
		all = append(all[:mostStages:mostStages], fmt.Sprintf("%s more below, with the stages.", unit.Count(more, "change")))
	}
	return all
}

// stageTitle is that of a table of stages.
func stageTitle(t *stages.Table) string {
	title := "Where the time goes: " + t.TestOf().String()
	if t.Under != "" {
		title += " (" + t.Under + ")"
	}
	return title
}

// StageSection is a table of stages with one row for each: their times under each
// variant, and the changes with their shares of the whole.
func StageSection(t *stages.Table) compare.Section {
	s := compare.Section{Name: "stages", Title: stageTitle(t), Columns: []compare.Column{{Name: "end"}}}
	for i := range t.Variants {
		name := t.Variants[i].Name
		if name == "" {
			name = "time"
		}
		s.Columns = append(s.Columns, compare.Column{Name: name, Unit: unit.Nanoseconds})
	}
	if len(t.Variants) == 1 {
		s.Columns = append(s.Columns, compare.Column{Name: "share", Percent: true})
	}
	for i := range t.Changes {
		s.Columns = append(s.Columns, compare.Column{Name: "change to " + t.Changes[i].Variant, Unit: unit.Nanoseconds}, compare.Column{Name: "share"})
	}
	for k := range t.Stages {
		if stage := &t.Stages[k]; !stage.Rest || restMatters(t) {
			s.Rows = append(s.Rows, stageLine(t, stage.Label(), stage.End, k))
		}
	}
	s.Rows = append(s.Rows, stageLine(t, "whole", "", -1))
	s.Notes = stageNotes(t)
	return s
}

// restMatters says that there is anything that could not be attributed.
func restMatters(t *stages.Table) bool {
	return slices.ContainsFunc(t.Variants, func(v stages.Variant) bool { return v.PartsNS[len(v.PartsNS)-1] >= 1 })
}

// stageLine is the row of the kth stage, -1 for the whole.
func stageLine(t *stages.Table, label, end string, k int) compare.Line {
	value := func(v float64) compare.Datum { return compare.Datum{Value: &v} }
	l := compare.Line{Label: label, Cells: []compare.Datum{{Text: end}}}
	if end == "" {
		l.Cells[0].Text = "-"
	}
	for i := range t.Variants {
		v := &t.Variants[i]
		if k < 0 {
			l.Cells = append(l.Cells, value(v.TotalNS))
		} else {
			l.Cells = append(l.Cells, value(v.PartsNS[k]))
		}
	}
	if len(t.Variants) == 1 {
		v := &t.Variants[0]
		if share := 100.0; k < 0 {
			l.Cells = append(l.Cells, value(share))
		} else {
			l.Cells = append(l.Cells, value(100*v.PartsNS[k]/v.TotalNS))
		}
	}
	for i := range t.Changes {
		c := &t.Changes[i]
		shift, share := &c.Total, (*float64)(nil)
		if k >= 0 {
			shift, share = &c.Parts[k], c.Shares[k]
		} else if c.Shares[0] != nil {
			whole := 100.0
			share = &whole
		}
		cell := compare.Datum{Value: shift.Est, Lo: shift.Lo, Hi: shift.Hi}
		if shift.Est == nil {
			cell.Text = "n/a (no block has both)"
		}
		l.Cells = append(l.Cells, cell)
		if share == nil {
			l.Cells = append(l.Cells, compare.Datum{Text: "n/a (the whole is not different for sure)"})
		} else {
			l.Cells = append(l.Cells, compare.Datum{Text: fmt.Sprintf("%5.0f%%", math.Round(*share)+0)})
		}
	}
	return l
}

// stageNotes say what the table rests on and what watching cost, and tell of the longest
// round trips.
func stageNotes(t *stages.Table) []string {
	notes := t.Source()
	for i := range t.Variants {
		v := &t.Variants[i]
		if v.Cost.Est == nil {
			continue
		}
		name := ""
		if v.Name != "" {
			name = ", " + v.Name
		}
		notes = append(notes, fmt.Sprintf("Cost of watching%s: the median of all round trips %s, the typical watched one %s against windows in which none is.",
			name, percentWithin(v.Cost), percentWithin(v.Own)))
	}
	for i := range t.Variants {
		if v := &t.Variants[i]; len(v.Slow) > 0 {
			notes = append(notes, slowNote(t, v, 0))
		}
	}
	return append(notes, "> is the request's way, < the answer's. Times are means over the middle half of the watched round trips, so that they add up.")
}

func percentWithin(s stages.Shift) string {
	text := fmt.Sprintf("%+.1f%%", *s.Est)
	if s.Lo != nil {
		text += fmt.Sprintf(" (%+.1f%% to %+.1f%%)", *s.Lo, *s.Hi)
	}
	return text
}

// slowNote tells of one of a variant's longest round trips: what of it is beyond the
// typical one, and what ran where it waited.
func slowNote(t *stages.Table, v *stages.Variant, k int) string {
	s := &v.Slow[k]
	name := ""
	if v.Name != "" {
		name = ", " + v.Name
	}
	nth := []string{"Longest", "Second", "Third"}[min(k, 2)]
	if k > 0 {
		nth += " longest"
	}
	text := fmt.Sprintf("%s watched round trip%s: %s (block %d)", nth, name, unit.Format(float64(s.TotalNS), unit.Nanoseconds), s.Block+1)
	at, most := -1, 0.0
	for i, ns := range s.PartsNS {
		if over := float64(ns) - v.PartsNS[i]; over > most {
			at, most = i, over
		}
	}
	if at >= 0 {
		where := ""
		if e := t.Stages[at].End; e != "" {
			where = " at the " + e + " end"
		}
		text += fmt.Sprintf(", %s of it %s%s", unit.Format(float64(s.PartsNS[at]), unit.Nanoseconds), t.Stages[at].Between, where)
		for _, r := range s.Ran {
			if r.End != t.Stages[at].End {
				continue
			}
			length := ""
			if r.ForNS > 0 {
				length = " for " + unit.Format(float64(r.ForNS), unit.Nanoseconds)
			}
			switch {
			case r.Point == result.PointRun.String() && r.Leg == t.Stages[at].Leg:
				text += fmt.Sprintf("; CPU %d ran %s before%s", r.CPU, r.Task, length)
			case r.Point == result.PointBack.String():
				text += fmt.Sprintf("; CPU %d ran %s meanwhile%s", r.CPU, r.Task, length)
			}
		}
	}
	return text + "."
}

// stageBars are drawings of a table in characters: a bar for each variant, divided into
// its stages, and how the stages lead from the baseline to each other variant.
func stageBars(t *stages.Table) []string {
	longest := 0.0
	label := 0
	for i := range t.Variants {
		longest = max(longest, t.Variants[i].TotalNS)
		label = max(label, min(len(ascii(t.Variants[i].Name)), 16))
	}
	if longest <= 0 {
		return nil
	}
	room := Width - 2 - label - 3 - 10
	var lines, keys []string
	for i := range t.Variants {
		v := &t.Variants[i]
		bar, used := stageBar(t, v.PartsNS, float64(room)/longest)
		lines = append(lines, fmt.Sprintf("  %-*s |%s %s", label, clip(ascii(v.Name), label), bar, unit.Format(v.TotalNS, unit.Nanoseconds)))
		for _, u := range used {
			if !slices.Contains(keys, u) {
				keys = append(keys, u)
			}
		}
	}
	lines = append(lines, lay([]Item{indented("Each bar from the request's call to the answer's return: " + strings.Join(keys, ", ") + ".")})...)
	for i := range t.Changes {
		lines = append(lines, waterfall(t, i)...)
	}
	return lines
}

// stageBar is a bar of so many characters a nanosecond. What is rounded away is carried
// on, so that a bar is as long as its whole.
func stageBar(t *stages.Table, parts []float64, scale float64) (bar string, used []string) {
	var b strings.Builder
	sum := 0.0
	for k, ns := range parts {
		sum += ns
		n := int(math.Round(sum*scale)) - b.Len()
		if n <= 0 {
			continue
		}
		kind := stages.KindOf(&t.Stages[k])
		b.WriteString(strings.Repeat(kind.Letter, n))
		used = append(used, kind.Letter+" "+kind.Name)
	}
	return b.String(), used
}

// fallWidth is how wide the drawing of a waterfall is.
const fallWidth = 28

// waterfall leads from the baseline's round trip to a variant's, by the stages that
// differ most.
func waterfall(t *stages.Table, i int) []string {
	c := &t.Changes[i]
	if c.Total.Est == nil {
		return nil
	}
	steps := t.Steps(i)
	lo, hi := 0.0, 0.0
	for _, s := range steps {
		lo, hi = min(lo, s.From, s.To), max(hi, s.From, s.To)
	}
	if hi-lo <= 0 {
		return nil
	}
	at := func(v float64) int { return int(math.Round((v - lo) / (hi - lo) * fallWidth)) }
	lines := []string{fmt.Sprintf("  From %s to %s:", clip(ascii(c.Baseline), 24), clip(ascii(c.Variant), 24))}
	for _, s := range steps {
		a, b := at(min(s.From, s.To)), at(max(s.From, s.To))
		mark := "+"
		switch {
		case s.Whole:
			mark = "#"
		case s.To < s.From:
			mark = "-"
		}
		bar := strings.Repeat(" ", a) + strings.Repeat(mark, max(1, b-a))
		sign := "+"
		if s.To < s.From {
			sign = "-"
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  %-28s %10s |%s", clip(s.Name, 28), sign+unit.Format(math.Abs(s.To-s.From), unit.Nanoseconds), bar), " "))
	}
	return lines
}

// stageTexts are the tables with their drawings, as text.
func stageTexts(tables []stages.Table) [][]string {
	var all [][]string
	for i := range tables {
		t := &tables[i]
		s := StageSection(t)
		all = append(all, section(&s), stageBars(t))
	}
	return all
}

// stageParts are the tables for other forms.
func stageParts(tables []stages.Table) []Part {
	var parts []Part
	for i := range tables {
		s := StageSection(&tables[i])
		t, why, said := sectionTable(&s)
		parts = append(parts, Part{Name: PartStages, Title: s.Title, Table: t.exported(), Notes: append(why, said...), Drawing: stageBars(&tables[i])})
	}
	return parts
}

// stageWhere says of a single run where most of its time goes.
func stageWhere(tables []stages.Table) []Item {
	var all []Item
	for i := range tables {
		for k := range tables[i].Variants {
			all = append(all, hanging(tables[i].Where(&tables[i].Variants[k])))
		}
	}
	return all
}
