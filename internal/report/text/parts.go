package text

import (
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/summary"
)

// Part is one part of a report, for other forms to lay out: what is said, in which
// order, and with which words is the same in all of them.
type Part struct {
	Name  string // one of the names below
	Title string // empty for none
	// Items stand before the table, and Notes behind it.
	Items, Notes []Item
	Table        *Table
	Facts        []result.Fact
	Drift        []compare.Drift
	Command      string // as it can be pasted into a shell
	// Drawing is lines of characters that stand where their breadth is one.
	Drawing []string
}

// Names of parts. There can be several of one name.
const (
	PartAnswer    = "answer"
	PartChanged   = "changed" // what differs between separate runs beside
	PartRan       = "ran"
	PartChecks    = "checks"
	PartRows      = "rows"     // comparisons
	PartLeftOut   = "left-out" // rows that the report's own tables stand for
	PartSection   = "section"  // a table of the report's own
	PartStages    = "stages"   // where the time of round trips goes
	PartStreams   = "streams"  // where the data of streams waits
	PartBesides   = "beside"
	PartRoundTrip = "each" // round trips one by one
	PartOverTime  = "time"
	PartNotes     = "notes"
	PartWarnings  = "warnings"
	PartOnTheWay  = "way"
	PartMachine   = "machine"
	PartProgram   = "program" // its version and how it was started
	PartFigures   = "figures" // of a single run
)

// Parts are those of a comparison in the order in which its text has them.
func Parts(r *compare.Report) []Part {
	none, changed := differences(r)
	parts := []Part{{Name: PartAnswer, Items: lead(r)}, {Name: PartChanged, Items: none, Facts: changed}, {Name: PartRan, Items: whatRan(r)}}
	if len(changed) > 0 {
		parts[1].Title = changedTitle
	}
	if r.Posted {
		parts = append(parts, Part{Name: PartChecks, Title: claimsTitle, Items: claims(r)})
	} else if len(r.Checks) > 0 {
		t, said := checkTable(r)
		parts = append(parts, Part{Name: PartChecks, Title: "Checks", Table: t.exported(), Notes: said})
	}
	if brief(r) {
		parts = append(append(parts, ownParts(r)...), Part{Name: PartLeftOut, Items: inFull(r)})
	} else {
		parts = append(append(parts, RowParts(r)...), ownParts(r)...)
	}
	parts = append(append(parts, stageParts(r.Stages)...), streamParts(r.Streams)...)
	if t, title := besideTable(r); title != "" {
		parts = append(parts, Part{Name: PartBesides, Title: title, Table: t.exported()})
	}
	parts = append(parts, eachPart(r), timePart(r), Part{Name: PartNotes, Items: notes(r)}, warningPart(warnings(r)), wayPart(r))
	title, facts, more := machine(r)
	parts = append(parts, Part{Name: PartMachine, Title: title, Facts: facts, Notes: further(more)}, program(r.Version, r.Command))
	return slices.DeleteFunc(parts, Part.empty)
}

// RunParts are those of a single run: the machines too where they are asked for.
func RunParts(r *summary.Report, machines bool, next string) []Part {
	t := figures(r)
	parts := []Part{{Name: PartAnswer, Items: slices.Concat(stageWhere(r.Stages), streamWhere(r.Streams), runHead(r), runSpeeds(r))},
		{Name: PartFigures, Title: runTitle(r), Table: t.exported()}}
	parts = append(append(parts, stageParts(r.Stages)...), streamParts(r.Streams)...)
	parts = append(parts, []Part{{Name: PartNotes, Items: runNotes(r)}, warningPart(runWarnings(r))}...)
	if machines {
		both, apart, more := environments(r)
		parts = append(parts, Part{Name: PartMachine, Title: bothTitle, Facts: both}, Part{Name: PartMachine, Title: apartTitle, Facts: apart},
			Part{Name: PartMachine, Notes: further(more)}, program(r.Version, r.Command))
	}
	return slices.DeleteFunc(append(parts, NextPart(next)), Part.empty)
}

// NextPart says what can be done next; it is empty for an empty text.
func NextPart(next string) Part {
	if next == "" {
		return Part{}
	}
	return Part{Name: PartNotes, Items: items(next)}
}

// RowParts are the tables of comparisons, whether or not the text has them.
func RowParts(r *compare.Report) []Part {
	var parts []Part
	for _, alike := range blocks(r) {
		for _, b := range alike {
			parts = append(parts, Part{Name: PartRows, Title: b.title, Table: b.exported()})
		}
	}
	return slices.DeleteFunc(parts, Part.empty)
}

// ownParts are the report's own tables.
func ownParts(r *compare.Report) []Part {
	var parts []Part
	for i := range r.Sections {
		if s := &r.Sections[i]; len(s.Rows) > 0 {
			t, why, said := sectionTable(s)
			parts = append(parts, Part{Name: PartSection, Title: s.Title, Table: t.exported(), Notes: append(why, said...)})
		}
	}
	return parts
}

func eachPart(r *compare.Report) Part {
	p := Part{Name: PartRoundTrip}
	for i, mine := range eachVariant(r) {
		if i == 0 {
			p.Title = mine[0].Text
			continue
		}
		p.Items = append(p.Items, mine...)
	}
	return p
}

func timePart(r *compare.Report) Part {
	series := driftShown(r)
	if len(series) == 0 {
		return Part{}
	}
	return Part{Name: PartOverTime, Title: timeTitle, Drift: series, Notes: timeNote(series)}
}

func warningPart(all []Item) Part {
	if len(all) == 0 {
		return Part{}
	}
	return Part{Name: PartWarnings, Title: all[0].Text, Items: all[1:]}
}

func wayPart(r *compare.Report) Part {
	p := Part{Name: PartOnTheWay, Items: losses(r)}
	if t := wakeups(r); t != nil {
		p.Table = t.exported()
	}
	if !p.empty() {
		p.Title = wayTitle(r)
	}
	return p
}

func program(version, command string) Part {
	p := Part{Name: PartProgram, Command: command}
	if version != "" {
		p.Items = items("netdelta " + version)
	}
	return p
}

// empty says that there is nothing in it but, maybe, a title.
func (p Part) empty() bool {
	return len(p.Items) == 0 && len(p.Notes) == 0 && (p.Table == nil || len(p.Table.Rows) == 0) && len(p.Facts) == 0 && len(p.Drift) == 0 && p.Command == ""
}

// Change is how far a series went, as the text's table has it: between the run's
// thirds, and from its first half to its second.
func Change(d *compare.Drift) (thirds, halves string) { return d.Amount(*d.Swing), plus(d, *d.Halves) }

// Spark is how a series went, in bars: as many as sparkWidth at most.
func Spark(d *compare.Drift) string { return strings.TrimRight(spark(d), " ") }

// SeriesName is a series by its test and metric.
func SeriesName(d *compare.Drift) string { return d.Name() + " " + d.Metric }

// Table is a table before it is laid out.
type Table struct {
	Head []string
	// Right says which columns stand at the right.
	Right []bool
	Rows  []TableRow
}

// TableRow is a row: a heading above others, or as many cells as the head has.
type TableRow struct {
	Heading string
	Cells   []string
	// Of is the comparison that the row is of; nil for any other.
	Of *compare.Comparison
}

func (t *table) exported() *Table {
	x := &Table{Head: t.head, Right: t.right}
	for i, cells := range t.rows {
		row := TableRow{Cells: slices.Clone(cells)}
		if len(cells) == 1 {
			row = TableRow{Heading: cells[0]}
		} else {
			row.Cells[0] = strings.TrimPrefix(cells[0], "  ")
		}
		if i < len(t.of) {
			row.Of = t.of[i]
		}
		x.Rows = append(x.Rows, row)
	}
	return x
}

func (w *wide) exported() *Table {
	x := &Table{Head: []string{""}, Right: []bool{false}}
	for i := range w.columns {
		c := &w.columns[i]
		name := c.name
		switch {
		case name == "":
			name = c.unit
		case c.unit != "":
			name += ", " + c.unit
		}
		x.Head, x.Right = append(x.Head, name), append(x.Right, !c.left)
	}
	for row, label := range w.labels {
		cells := []string{label}
		for i := range w.columns {
			c := &w.columns[i]
			from := c.cells
			if c.whole != nil {
				from = c.whole
			}
			cell := ""
			if row < len(from) {
				cell = strings.TrimRight(from[row], " ")
			}
			cells = append(cells, cell)
		}
		x.Rows = append(x.Rows, TableRow{Cells: cells})
	}
	return x
}
