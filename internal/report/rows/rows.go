// Package rows writes a report for programs that read lines: CSV, and Go's benchmark
// format.
package rows

import (
	"errors"
	"io"

	"netdelta/internal/compare"
)

// CSV writes a row for each trial and metric.
func CSV(w io.Writer, d *compare.Document) error { return errors.New("not made yet") }

// Bench writes each trial as a result in Go's benchmark format.
func Bench(w io.Writer, d *compare.Document) error { return errors.New("not made yet") }
