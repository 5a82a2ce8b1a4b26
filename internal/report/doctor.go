package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"netdelta/internal/doctor"
	"netdelta/internal/report/text"
)

// DoctorFormat is one form of what doctor found.
type DoctorFormat struct {
	Name   string
	About  string
	Render func(io.Writer, *doctor.Report) error
}

// doctorFormats is the table. A new form is a row here and a renderer.
var doctorFormats = []DoctorFormat{
	{"text", "plain text of at most 72 columns, fit for mail", text.RenderDoctor},
	{"json", "one object, schema " + doctor.Schema, DoctorJSON},
}

// DoctorFormatNames returns the names of all forms, the default first.
func DoctorFormatNames() []string {
	var names []string
	for _, f := range doctorFormats {
		names = append(names, f.Name)
	}
	return names
}

// DoctorFormatOf returns the form of that name, or an error that names the
// valid ones.
func DoctorFormatOf(name string) (DoctorFormat, error) {
	for _, f := range doctorFormats {
		if f.Name == name {
			return f, nil
		}
	}
	return DoctorFormat{}, fmt.Errorf("unknown format %q: valid are %s", name, strings.Join(DoctorFormatNames(), ", "))
}

// DoctorJSON writes what was found as one indented object and a line end.
func DoctorJSON(w io.Writer, r *doctor.Report) error {
	type finding struct {
		doctor.Finding
		Level string `json:"level"`
	}
	found := make([]finding, len(r.Findings))
	for i, f := range r.Findings {
		found[i] = finding{f, f.Level()}
	}
	data, err := json.MarshalIndent(struct {
		Schema   string       `json:"schema"`
		Ends     []doctor.End `json:"ends"`
		Findings []finding    `json:"findings"`
	}{r.Schema, r.Ends, found}, "", "  ")
	if err != nil {
		return fmt.Errorf("write what doctor found as JSON: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
