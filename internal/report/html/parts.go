package html

import (
	"strings"

	"netdelta/internal/report/text"
	"netdelta/internal/result"
)

// part is a section of the page.
type part struct {
	Name, Title string
	Folded      bool
	Items       []item
	Table       *table
	Facts       []result.Fact
	Series      []series
	Command     string
	Notes       []item
	Within      []part
}

// item is a sentence or an entry, Word what it explains.
type item struct{ Word, Text, Kind string }

// series is how a figure went over the blocks.
type series struct{ Name, Spark, Thirds, Halves string }

// table is one that can be sorted: groups of rows under headings.
type table struct {
	Head   []head
	Groups []rowGroup
}

// head is a column's title. Units is the place of the column that has the unit of each
// row's value here, -1 where values have their own.
type head struct {
	Text  string
	Right bool
	Units int
}

type rowGroup struct {
	Heading string
	Rows    []row
	Span    int
}

// row has cells; Verdict is a class for the last of them.
type row struct {
	Cells   []cellOf
	Verdict string
	// Why are the warnings about the row.
	Why []string
}

type cellOf struct {
	Text  string
	Right bool
	// Chip says that the cell is a verdict.
	Chip bool
}

// folded are parts that are closed until somebody opens them.
var folded = map[string]bool{text.PartMachine: true, text.PartRoundTrip: true}

func partOf(p text.Part) part {
	out := part{Name: p.Name, Title: p.Title, Folded: folded[p.Name], Items: itemsOf(p.Items), Notes: itemsOf(p.Notes), Facts: p.Facts, Command: p.Command}
	if out.Title == "" {
		out.Title = map[string]string{text.PartRan: "How it ran", text.PartNotes: "How to read it", text.PartMachine: "Further", text.PartProgram: "The program", text.PartChanged: "What changed beside"}[p.Name]
	}
	if p.Table != nil && len(p.Table.Rows) > 0 {
		out.Table = tableOf(p.Table)
	}
	for i := range p.Drift {
		d := &p.Drift[i]
		thirds, halves := text.Change(d)
		out.Series = append(out.Series, series{text.SeriesName(d), text.Spark(d), thirds, halves})
	}
	return out
}

func itemsOf(all []text.Item) []item {
	kinds := map[text.Kind]string{text.Title: "title", text.Entry: "entry", text.Meaning: "meaning", text.General: "general", text.Particular: "particular"}
	var out []item
	for _, i := range all {
		out = append(out, item{i.Word, i.Text, kinds[i.Kind]})
	}
	return out
}

// ownUnit are columns whose cells are not in the unit that their row names.
var ownUnit = map[string]bool{"change": true, "verdict": true, "n": true, "runs": true, "trials": true}

// tableOf groups a table's rows under their headings.
func tableOf(t *text.Table) *table {
	out := &table{}
	right := func(i int) bool { return i < len(t.Right) && t.Right[i] }
	units := -1
	for i, h := range t.Head {
		of := units
		if ownUnit[h] {
			of = -1
		}
		out.Head = append(out.Head, head{h, right(i), of})
		if h == "unit" {
			units = i
		}
	}
	for _, r := range t.Rows {
		if r.Heading != "" {
			out.Groups = append(out.Groups, rowGroup{Heading: r.Heading, Span: len(t.Head)})
			continue
		}
		if len(out.Groups) == 0 {
			out.Groups = append(out.Groups, rowGroup{})
		}
		x := row{}
		for i, c := range r.Cells {
			x.Cells = append(x.Cells, cellOf{Text: strings.TrimSpace(c), Right: right(i)})
		}
		if r.Of != nil {
			x.Verdict = string(r.Of.Verdict)
			x.Cells[len(x.Cells)-1].Chip = true
			for _, w := range r.Of.Warnings {
				x.Why = append(x.Why, w.Text)
			}
			if len(x.Why) > 0 {
				x.Cells[0].Text = strings.TrimPrefix(x.Cells[0].Text, "! ")
			}
		}
		g := &out.Groups[len(out.Groups)-1]
		g.Rows = append(g.Rows, x)
	}
	return out
}
