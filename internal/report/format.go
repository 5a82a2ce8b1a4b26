// Package report is the table of forms in which a report can be written. Each
// form is a pure renderer of a document: compare's table or a run's figures, and the
// trials behind them.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/report/html"
	"netdelta/internal/report/markdown"
	"netdelta/internal/report/rows"
	"netdelta/internal/report/text"
	"netdelta/internal/summary"
)

// Options are what a report shows beside its figures.
type Options struct {
	Machines bool   // of one run: the machines at both ends, and how it was started
	Next     string // what can be done with the run; may be empty
}

// Format is one form of a report.
type Format struct {
	Name  string
	About string
	// Ending is that of the name of a file in this form, with its dot.
	Ending string
	Render func(io.Writer, *compare.Document, Options) error
}

// formats is the table. A new form is a row here and a renderer.
var formats = []Format{
	{"text", "plain text of at most 72 columns, fit for mail", ".txt", renderText},
	{"markdown", "Markdown with tables", ".md", without(markdown.Render)},
	{"html", "one file for a browser, with figures and the raw data", ".html", without(html.Render)},
	{"json", "one object, schema " + compare.Schema + ", of one run " + summary.Schema, ".json", without(renderJSON)},
	{"csv", "a row for each trial and metric", ".csv", without(rows.CSV)},
	{"bench", "Go's benchmark format, for benchstat", ".bench", without(rows.Bench)},
	{"trace", "single round trips with their stages, for Perfetto (Trace Event Format)", ".trace", without(Trace)},
}

// without is a renderer that has no use for options.
func without(render func(io.Writer, *compare.Document) error) func(io.Writer, *compare.Document, Options) error {
	return func(w io.Writer, d *compare.Document, _ Options) error { return render(w, d) }
}

func renderText(w io.Writer, d *compare.Document, o Options) error {
	if d.Report == nil {
		return text.RenderRun(w, d.Summary, o.Machines, o.Next)
	}
	if err := text.Render(w, d.Report); err != nil || o.Next == "" {
		return err
	}
	return text.Paragraph(w, o.Next)
}

func renderJSON(w io.Writer, d *compare.Document) error {
	if d.Report == nil {
		return RunJSON(w, d.Summary)
	}
	return JSON(w, d.Report)
}

// Formats returns all forms, the default first.
func Formats() []Format { return append([]Format(nil), formats...) }

// FormatNames returns the names of all forms, the default first.
func FormatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// FormatOf returns the form of that name, or an error that names the valid
// ones.
func FormatOf(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q: valid are %s", name, strings.Join(FormatNames(), ", "))
}

// FormatOfFile returns the form that a file of that name would have, or an error that
// names the endings.
func FormatOfFile(name string) (Format, error) {
	ending := strings.ToLower(filepath.Ext(name))
	var endings []string
	for _, f := range formats {
		if f.Ending == ending {
			return f, nil
		}
		endings = append(endings, f.Ending)
	}
	return Format{}, fmt.Errorf("no format has files that end in %q: valid are %s, or name one with --format", ending, strings.Join(endings, ", "))
}
