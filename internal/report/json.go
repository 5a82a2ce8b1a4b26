package report

import (
	"encoding/json"
	"fmt"
	"io"

	"netdelta/internal/compare"
)

// JSON writes the report as one indented object and a line end. Units are SI
// base units, but for round trips, which are in ns. What was not measured is
// null; there is no NaN. It fails, having written nothing, on a report with a
// number that JSON does not have, which Build never makes.
func JSON(w io.Writer, r *compare.Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write report of %s as JSON: %w", r.Experiment, err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
