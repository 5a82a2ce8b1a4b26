// Package markdown writes a report as Markdown.
package markdown

import (
	"errors"
	"io"

	"netdelta/internal/compare"
)

// Render writes the document.
func Render(w io.Writer, d *compare.Document) error { return errors.New("not made yet") }
