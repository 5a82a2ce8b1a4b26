package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"netdelta/internal/knob"
)

// recoverBound is how long restoring what dead processes left may take at the
// start of an agent or a run, which does nothing else before.
const recoverBound = 2 * time.Minute

// recoverSettings restores what processes that died have left changed on this
// host, and tells of each in a line. dir is what --journal names. keeps says that
// who asks is to keep a journal there, too: then it is told as well what live
// processes hold, and that there is none to be had.
func recoverSettings(ctx context.Context, dir string, keeps bool, tell func(string)) {
	dir, err := journalOf(dir)
	if err != nil {
		if keeps {
			tell(err.Error())
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recoverBound)
	defer cancel()
	entries, err := knob.Recover(ctx, dir)
	for _, e := range entries {
		if keeps || !e.Held {
			tell("left in the journal: " + leftoverOf(e, false).line())
		}
	}
	// Where this user may not look, nothing is of this user's.
	if err != nil && (keeps || !errors.Is(err, fs.ErrPermission)) {
		tell(fmt.Sprintf("restore what %s has: %v (netdelta restore tries again)", dir, err))
	}
}

// recoverFirst is recoverSettings before a run.
func recoverFirst(ctx context.Context, stderr io.Writer) {
	recoverSettings(ctx, "", false, func(line string) {
		// A report that nobody can read is no reason to stop.
		_, _ = fmt.Fprintf(stderr, "netdelta: %s\n", oneLine(line))
	})
}
