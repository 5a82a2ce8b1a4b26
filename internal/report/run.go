package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"netdelta/internal/report/text"
	"netdelta/internal/summary"
)

// RunOptions are what a report of one run shows beside its figures.
type RunOptions struct {
	Machines bool   // the machines at both ends, and how the run was started
	Next     string // what can be done with the run; may be empty
}

// RunFormat is one form of the report of one run.
type RunFormat struct {
	Name   string
	About  string
	Render func(io.Writer, *summary.Report, RunOptions) error
}

// runFormats is the table. A new form is a row here and a renderer.
var runFormats = []RunFormat{
	{"text", "plain text of at most 72 columns, fit for mail", func(w io.Writer, r *summary.Report, o RunOptions) error {
		return text.RenderRun(w, r, o.Machines, o.Next)
	}},
	{"json", "one object, schema " + summary.Schema, func(w io.Writer, r *summary.Report, _ RunOptions) error {
		return RunJSON(w, r)
	}},
}

// RunFormatNames returns the names of all forms, the default first.
func RunFormatNames() []string {
	var names []string
	for _, f := range runFormats {
		names = append(names, f.Name)
	}
	return names
}

// RunFormatOf returns the form of that name, or an error that names the valid
// ones.
func RunFormatOf(name string) (RunFormat, error) {
	for _, f := range runFormats {
		if f.Name == name {
			return f, nil
		}
	}
	return RunFormat{}, fmt.Errorf("unknown format %q: valid are %s", name, strings.Join(RunFormatNames(), ", "))
}

// RunJSON writes the report of one run as one indented object and a line end,
// in the units of JSON. What was not measured is null.
func RunJSON(w io.Writer, r *summary.Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report of run %s as JSON: %w", r.ID, err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
