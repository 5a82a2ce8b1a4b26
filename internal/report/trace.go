package report

import (
	"bytes"
	"errors"
	"io"

	"netdelta/internal/compare"
	"netdelta/internal/stages"
)

// ErrNothingWatched says that a document has no round trips that were watched.
var ErrNothingWatched = errors.New("there is no round trip to trace: none was watched (measure with --explain)")

// Trace writes single round trips of a document, with their stages, for a trace viewer.
func Trace(w io.Writer, d *compare.Document) error {
	var b bytes.Buffer
	n, err := stages.Chrome(&b, d.Watched())
	if err == nil && n == 0 {
		err = ErrNothingWatched
	}
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
