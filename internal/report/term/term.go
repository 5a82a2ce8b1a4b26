// Package term writes a report for a terminal: with colour, in tables, and with small
// plots of characters.
package term

import (
	"errors"
	"io"

	"netdelta/internal/compare"
	"netdelta/internal/picture"
)

// Look is what the terminal can do.
type Look struct {
	// Width is in columns, at least 40.
	Width int
	// Color says that it has colours, and Dark that its background is dark.
	Color, Dark bool
}

// Options are as the text form has them.
type Options struct {
	Machines bool
	Next     string
}

// Render writes the document.
func Render(w io.Writer, d *compare.Document, look Look, o Options) error {
	return errors.New("not made yet")
}

// Plot draws one figure in characters.
func Plot(w io.Writer, f *picture.Figure, look Look) error { return errors.New("not made yet") }
