// Package term writes a report for a terminal: with colour, in tables, and with small
// plots of characters. What is said, and in which order, is the plain text's. No text
// of a user's can steer the terminal.
package term

import (
	"io"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/report/text"
)

// Look is what the terminal can do.
type Look struct {
	// Width is in columns, at least 40.
	Width int
	// Color says that it has colours, and Dark that its background is dark.
	Color, Dark bool
	// ASCII says that it has no other characters.
	ASCII bool
}

// Options are as the text form has them.
type Options struct {
	Machines bool
	Next     string
}

// leastWidth is what narrower terminals are taken for, widestText the longest line of
// prose: longer ones are hard to read.
const (
	leastWidth = 40
	widestText = 100
)

// Render writes the document.
func Render(w io.Writer, d *compare.Document, look Look, o Options) error {
	p := newPage(look)
	var all []text.Part
	if d.Report == nil {
		all = text.RunParts(d.Summary, o.Machines, o.Next)
	} else if all = text.Parts(d.Report); o.Next != "" {
		all = append(all, text.NextPart(o.Next))
	}
	drawn := false
	for _, part := range all {
		if !drawn && afterTables(part.Name) {
			p.distributions(d)
			drawn = true
		}
		p.part(d, part)
	}
	if !drawn {
		p.distributions(d)
	}
	return p.to(w)
}

// afterTables says that a part stands behind the tables of figures.
func afterTables(name string) bool {
	switch name {
	case text.PartAnswer, text.PartChanged, text.PartRan, text.PartChecks, text.PartRows, text.PartLeftOut, text.PartSection, text.PartFigures:
		return false
	}
	return true
}

// page is what is written so far, by paragraphs.
type page struct {
	look       Look
	paragraphs []string
	explained  bool // what a forest's bars are
}

func newPage(look Look) *page {
	look.Width = max(look.Width, leastWidth)
	return &page{look: look}
}

// add adds a paragraph of some lines, if there are any.
func (p *page) add(lines ...string) {
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if text := strings.Join(lines, "\n"); text != "" {
		p.paragraphs = append(p.paragraphs, text+"\n")
	}
}

func (p *page) to(w io.Writer) error {
	all := strings.Join(p.paragraphs, "\n")
	if p.look.ASCII {
		all = ascii(all)
	}
	_, err := io.WriteString(w, all)
	return err
}

func (p *page) part(d *compare.Document, part text.Part) {
	var lines []string
	if part.Title != "" {
		for _, line := range p.wrap(part.Title, "", "  ") {
			lines = append(lines, p.look.title(line))
		}
	}
	lines = append(lines, p.items(part.Items, part.Name == text.PartAnswer)...)
	if part.Table != nil && len(part.Table.Rows) > 0 {
		lines = append(lines, p.table(d, part.Table)...)
	}
	lines = append(lines, p.facts(part)...)
	lines = append(lines, p.overTime(part.Drift)...)
	lines = append(lines, p.items(part.Notes, false)...)
	if len(part.Drawing) > 0 {
		p.add(lines...)
		lines = part.Drawing
	}
	if part.Command != "" {
		lines = append(lines, p.command(part.Command)...)
	}
	p.add(lines...)
}
