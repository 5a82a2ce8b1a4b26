// Package plot draws figures as SVG and PNG.
package plot

import (
	"errors"
	"io"

	"netdelta/internal/picture"
)

// SVG and PNG draw one figure.
func SVG(w io.Writer, f *picture.Figure) error { return errors.New("not made yet") }

// PNG draws one figure as a bitmap.
func PNG(w io.Writer, f *picture.Figure) error { return errors.New("not made yet") }
