package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"netdelta/internal/run"
)

// progress is one line on a terminal that tells where a run is and how long
// it still takes. On anything but a terminal it is silent.
type progress struct {
	w     io.Writer
	name  string
	width int // 0: silent
}

func newProgress(w io.Writer, name string) *progress {
	p := &progress{w: w, name: name}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.width = 72
	if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 1 {
		p.width = min(p.width, cols-1)
	}
	return p
}

// show draws the line. A terminal that cannot be written to is no reason to
// end a measurement, so errors are dropped.
func (p *progress) show(s run.Progress) {
	if p.width == 0 {
		return
	}
	what := []string{fmt.Sprintf("trial %d of %d, %s left", min(s.Done+1, s.Total), s.Total, s.Left.Round(time.Second))}
	if s.Variant != "" {
		what = []string{fmt.Sprintf("block %d of %d, %s", s.Block+1, s.Blocks, what[0]), s.Variant}
	}
	line := p.name + ": " + what[0]
	if s.Test != "" {
		line += ": " + strings.Join(append(what[1:], s.Test), ", ")
	}
	if len(line) > p.width {
		line = line[:p.width]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

// clear takes the line away, so that the report stands alone.
func (p *progress) clear() {
	if p.width != 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
