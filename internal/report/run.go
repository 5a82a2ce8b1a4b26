package report

import (
	"encoding/json"
	"fmt"
	"io"

	"netdelta/internal/summary"
)

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
