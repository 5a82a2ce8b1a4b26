// Package html writes a report as one file that a browser shows without a network.
package html

import (
	"errors"
	"io"

	"netdelta/internal/compare"
)

// Render writes the document.
func Render(w io.Writer, d *compare.Document) error { return errors.New("not made yet") }
