package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"netdelta/internal/calibrate"
	"netdelta/internal/report/text"
)

// CalibrationFormat is one form of what a calibration found.
type CalibrationFormat struct {
	Name   string
	About  string
	Render func(io.Writer, *calibrate.Report) error
}

// calibrationFormats is the table. A new form is a row here and a renderer.
var calibrationFormats = []CalibrationFormat{
	{"text", "plain text of at most 72 columns, fit for mail", text.RenderCalibration},
	{"json", "one object, schema " + calibrate.Schema, CalibrationJSON},
}

// CalibrationFormatNames returns the names of all forms, the default first.
func CalibrationFormatNames() []string {
	var names []string
	for _, f := range calibrationFormats {
		names = append(names, f.Name)
	}
	return names
}

// CalibrationFormatOf returns the form of that name, or an error that names the
// valid ones.
func CalibrationFormatOf(name string) (CalibrationFormat, error) {
	for _, f := range calibrationFormats {
		if f.Name == name {
			return f, nil
		}
	}
	return CalibrationFormat{}, fmt.Errorf("unknown format %q: valid are %s", name, strings.Join(CalibrationFormatNames(), ", "))
}

// CalibrationJSON writes what was found as one indented object and a line end.
func CalibrationJSON(w io.Writer, r *calibrate.Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the calibration as JSON: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
