package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"netdelta/internal/knob"
)

// recoverBound is how long putting back what dead processes have left may take.
const recoverBound = 2 * time.Minute

// Recover puts back what dead processes have left of settings of this host, by the
// default journal, and tells of each in a line. What live processes hold is left to
// them, and not told.
func Recover(ctx context.Context) []string {
	dir, err := knob.DefaultJournal()
	if err != nil {
		return nil // then nobody could keep one either
	}
	ctx, cancel := context.WithTimeout(ctx, recoverBound)
	defer cancel()
	entries, err := knob.Recover(ctx, dir)
	var lines []string
	for _, e := range entries {
		switch {
		case e.Held:
		case e.Setting.Knob == "":
			lines = append(lines, fmt.Sprintf("the journal of settings, %s, has what can't be read, and so can't be put back: %v", dir, e.Err))
		case e.Err != nil:
			lines = append(lines, fmt.Sprintf("%s, process %d, has died and left %s: it could not be put back (%v); netdelta restore tries again", e.Who, e.PID, e.Setting, e.Err))
		default:
			lines = append(lines, fmt.Sprintf("%s, process %d, has died and left %s: %s", e.Who, e.PID, e.Setting, e.Done))
		}
	}
	// Where this user may not look, nothing is of this user's.
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		lines = append(lines, fmt.Sprintf("what dead runs may have left changed could not be looked for in %s: %v", dir, err))
	}
	return lines
}
