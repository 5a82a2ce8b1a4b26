package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/unit"
)

// experiment has the report's own tables.
func experiment(r *compare.Report) [][]string {
	var all [][]string
	for i := range r.Sections {
		if s := &r.Sections[i]; len(s.Rows) > 0 {
			all = append(all, section(s))
		}
	}
	return all
}

// section is one of them: its title, its cells, and what there is to say of them.
func section(s *compare.Section) []string {
	t, why, notes := sectionTable(s)
	cells, less := t.lines()
	if less {
		why = append(why, indented("Intervals: --format json."))
	}
	return slices.Concat(wrap(s.Title, "", "  "), cells, lay(why), lay(notes))
}

// sectionTable is its cells, why some have no figure, and its notes.
func sectionTable(s *compare.Section) (t wide, why, notes []Item) {
	for _, row := range s.Rows {
		t.labels = append(t.labels, row.Label)
	}
	var missing []string // reasons
	where := map[string][]string{}
	for i, c := range s.Columns {
		data := make([]compare.Datum, len(s.Rows))
		for j, row := range s.Rows {
			if i < len(row.Cells) {
				data[j] = row.Cells[i]
			}
			why, none := reason(data[j])
			if !none || why == "" {
				continue
			}
			if where[why] == nil {
				missing = append(missing, why)
			}
			if !slices.Contains(where[why], c.Name) {
				where[why] = append(where[why], c.Name)
			}
		}
		t.columns = append(t.columns, columnOf(c, data))
	}
	if len(missing) > 0 {
		var parts []string
		for _, why := range missing {
			parts = append(parts, fmt.Sprintf("%s (%s)", why, strings.Join(where[why], ", ")))
		}
		why = append(why, indented("n/a: "+strings.Join(parts, "; ")+"."))
	}
	for _, note := range s.Notes {
		notes = append(notes, indented(note))
	}
	return t, why, notes
}

// reason says of a cell without a figure why there is none, and false of any other.
func reason(d compare.Datum) (why string, none bool) {
	if d.Value != nil {
		return "", false
	}
	why, none = strings.CutPrefix(d.Text, "n/a")
	why = strings.TrimSpace(why)
	if inner, ok := strings.CutPrefix(why, "("); ok {
		why = strings.TrimSuffix(inner, ")")
	}
	return why, none || d.Text == ""
}

// middle is the one in the middle of the values that are not 0: a scale by it suits
// most of them, and one by the largest only that.
func middle(values []float64) []float64 {
	all := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v == 0 || math.IsNaN(v) })
	if len(all) == 0 {
		return values
	}
	slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	return all[(len(all)-1)/2 : (len(all)-1)/2+1]
}

// columnOf writes a column's cells, all on one scale.
func columnOf(c compare.Column, data []compare.Datum) wideColumn {
	w := wideColumn{name: c.Name}
	var values []float64
	figures, changes := false, false
	for _, d := range data {
		figures = figures || d.Value != nil
		if d.Value != nil {
			values = append(values, *d.Value)
			changes = changes || c.Percent && (d.Verdict != "" || d.Lo != nil || *d.Value < 0)
		}
	}
	div, in := unit.Scale(c.Unit, middle(values)...)
	switch {
	case changes:
		in = ""
	case c.Percent:
		in = "%"
	case c.Unit == "":
		in = ""
	}
	if figures {
		w.unit = in
	} else {
		w.left = slices.ContainsFunc(data, func(d compare.Datum) bool { _, none := reason(d); return !none })
	}
	write := func(d compare.Datum) string {
		if changes {
			x := compare.Comparison{Scale: compare.Percent, DeltaPct: d.Value, LoPct: d.Lo, HiPct: d.Hi}
			return x.Change(1)
		}
		text := unit.Cell(*d.Value, c.Unit, div)
		if d.Lo != nil && d.Hi != nil {
			text += fmt.Sprintf(" (%s to %s)", unit.Cell(*d.Lo, c.Unit, div), unit.Cell(*d.Hi, c.Unit, div))
		}
		return text
	}
	marked := slices.ContainsFunc(data, func(d compare.Datum) bool { return d.Value != nil && markOf(d.Verdict) != "" })
	ranged := false
	for _, d := range data {
		_, none := reason(d)
		var long, short string
		switch {
		case none:
			long, short = "n/a", "n/a"
		case d.Value == nil:
			long = clip(ascii(d.Text), longestText)
			short = long
		case math.IsNaN(*d.Value) || math.IsInf(*d.Value, 0):
			long, short = "n/a", "n/a"
		default:
			bare := d
			bare.Lo, bare.Hi = nil, nil
			long, short = write(d), write(bare)
		}
		if marked {
			mark := " "
			if d.Value != nil && markOf(d.Verdict) != "" {
				mark = markOf(d.Verdict)
			}
			long, short = long+mark, short+mark
		}
		ranged = ranged || long != short
		whole := long
		if d.Value == nil && !none {
			whole = d.Text
		}
		w.cells, w.short, w.whole = append(w.cells, long), append(w.short, short), append(w.whole, whole)
	}
	if !ranged {
		w.short = nil
	}
	return w
}
