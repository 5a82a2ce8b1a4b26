// Package report is the table of forms in which a report can be written. Each
// form is a pure renderer of compare's table.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/report/text"
)

// Format is one form of a report.
type Format struct {
	Name   string
	About  string
	Render func(io.Writer, *compare.Report) error
}

// formats is the table. A new form is a row here and a renderer.
var formats = []Format{
	{"text", "plain text of at most 72 columns, fit for mail", text.Render},
	{"json", "one object, schema " + compare.Schema, JSON},
}

// Formats returns all forms, the default first.
func Formats() []Format { return slices.Clone(formats) }

// FormatOf returns the form of that name, or an error that names the valid
// ones.
func FormatOf(name string) (Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q: valid are %s", name, strings.Join(names, ", "))
}
