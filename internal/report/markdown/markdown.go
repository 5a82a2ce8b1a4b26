// Package markdown writes a report as GitHub-flavoured Markdown: what the text says
// and in its order, with tables. Nothing of what users named can become markup.
package markdown

import (
	"io"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/report/text"
)

// Render writes the document: of a single run with the machines, and of a comparison
// with all rows, folded where the report's own tables stand for them.
func Render(w io.Writer, d *compare.Document) error {
	var b page
	if d.Report == nil {
		for _, p := range text.RunParts(d.Summary, true, "") {
			b.part(p)
		}
	} else {
		for _, p := range text.Parts(d.Report) {
			if p.Name == text.PartLeftOut {
				b.folded("All rows", func() { b.parts(text.RowParts(d.Report)) })
				continue
			}
			b.part(p)
		}
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}

// page is the Markdown so far. Every block begins with an empty line.
type page struct{ strings.Builder }

func (b *page) block(lines string) { b.WriteString("\n" + lines + "\n") }

func (b *page) parts(all []text.Part) {
	for _, p := range all {
		b.part(p)
	}
}

func (b *page) part(p text.Part) {
	switch p.Name {
	case text.PartAnswer:
		b.answer(p)
	case text.PartMachine, text.PartRoundTrip:
		title := p.Title
		if title == "" {
			title = "Further"
		}
		b.folded(title, func() { b.body(p) })
	default:
		title, about := heading(p)
		if title != "" {
			b.block("## " + escaped(title))
		}
		if about != "" {
			b.block(paragraph(about))
		}
		b.body(p)
	}
}

// answer is what comes first: its first sentence stands out.
func (b *page) answer(p text.Part) {
	for i, s := range p.Items {
		if i == 0 {
			b.block("**" + paragraph(s.Text) + "**")
			continue
		}
		b.block(paragraph(s.Text))
	}
}

// heading is a part's heading, and what of its title is too long for that.
func heading(p text.Part) (title, about string) {
	switch p.Name {
	case text.PartRan:
		return "How it ran", ""
	case text.PartNotes:
		return "How to read it", ""
	case text.PartProgram:
		return "How to run it again", ""
	case text.PartOverTime:
		title, about, _ = strings.Cut(p.Title, ": ")
		return title, capital(about) + "."
	case text.PartOnTheWay:
		title, about, _ = strings.Cut(p.Title, " (")
		return title, capital(strings.TrimSuffix(about, ")")) + "."
	}
	return p.Title, ""
}

// capital begins a text with a capital letter.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (b *page) body(p text.Part) {
	b.items(p.Items)
	if p.Table != nil && len(p.Table.Rows) > 0 {
		b.block(tableOf(p.Table).lines())
	}
	if len(p.Facts) > 0 {
		g := grid{head: []string{"", ""}, right: make([]bool, 2)}
		for _, f := range p.Facts {
			g.rows = append(g.rows, []string{escaped(f.Name), escaped(f.Value)})
		}
		b.block(g.lines())
	}
	if len(p.Drift) > 0 {
		b.block(driftOf(p.Drift).lines())
	}
	b.items(p.Notes)
	if len(p.Drawing) > 0 {
		b.block("```\n" + strings.Join(p.Drawing, "\n") + "\n```")
	}
	if p.Command != "" {
		b.block(code(p.Command))
	}
}

// folded is what is shown on demand only.
func (b *page) folded(title string, body func()) {
	b.block("<details>\n<summary>" + html(title) + "</summary>")
	body()
	b.block("</details>")
}

// items are sentences as paragraphs, and all others as lists.
func (b *page) items(all []text.Item) {
	list := false
	for _, i := range all {
		switch i.Kind {
		case text.Sentence, text.Title:
			b.block(paragraph(i.Text))
			list = false
			continue
		}
		if !list {
			b.WriteByte('\n')
		}
		list = true
		b.WriteString("- ")
		if i.Word != "" {
			b.WriteString("`" + i.Word + "`: ")
		}
		b.WriteString(paragraph(i.Text) + "\n")
	}
}
