package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/knob"
	"netdelta/internal/spec"
)

// restoreSchema names the version of the JSON form.
const restoreSchema = "netdelta.restore/1"

const journalHelp = "directory of the journal of settings (default NETDELTA_JOURNAL, else /var/lib/netdelta/settings for root and netdelta/settings in the state directory of others)"

// leftover is a setting of the journal, with what became of it.
type leftover struct {
	Setting string    `json:"setting"` // what it was changed to
	End     string    `json:"end"`
	ID      string    `json:"id"`
	Was     string    `json:"was"`
	Who     string    `json:"who"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	// State is one of the constants below, Text the reason where there is one.
	State string `json:"state"`
	Text  string `json:"text,omitempty"`
}

// States of a leftover.
const (
	leftPending = "left"   // by a dead process, and only listed
	leftHeld    = "held"   // by a live process, which will restore it
	leftDone    = "done"   // restored, or needs no restoring, as the text says
	leftFailed  = "failed" // and stays in the journal
)

func newRestore() *cobra.Command {
	var journal, format string
	var list bool
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Put back settings that a dead process has left changed",
		Long: `Puts settings of this host back to what they were before a netdelta changed
them that has died since (kill -9, a crash). What they were is in a journal on
disk. Settings that a live process has changed are left alone: it restores them
itself. The start of the next run or agent on this host does the same.

Exit status 3 says that something could not be put back; it stays in the
journal.`,
		Example: `  netdelta restore --list
  netdelta restore`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRestore(cmd.Context(), journal, list, format, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&journal, "journal", "", journalHelp)
	fl.BoolVar(&list, "list", false, "only say what the journal has")
	fl.StringVar(&format, "format", "text", "text or json")
	return cmd
}

func runRestore(ctx context.Context, journal string, list bool, format string, stdout io.Writer) error {
	if format != "text" && format != "json" {
		return usageError("unknown format %q: valid are text, json", format)
	}
	dir, err := journalOf(journal)
	if err != nil {
		return &exitError{ExitUnmeasured, err}
	}
	look := knob.Recover
	if list {
		look = func(_ context.Context, dir string) ([]knob.Entry, error) { return knob.Pending(dir) }
	}
	entries, err := look(ctx, dir)
	all := make([]leftover, len(entries))
	failed := 0
	for i, e := range entries {
		all[i] = leftoverOf(e, list)
		if all[i].State == leftFailed {
			failed++
		}
	}
	if told := tellLeftovers(stdout, dir, all, format, err == nil); told != nil {
		return told
	}
	switch {
	case err != nil:
		return &exitError{ExitUnmeasured, fmt.Errorf("restore what %s has: %w", dir, err)}
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, errors.New("interrupted: what is not restored stays in the journal")}
	case failed > 0:
		return &exitError{ExitUnmeasured, fmt.Errorf("%d of %d settings could not be restored, and stay in %s: see to the reasons, then try again", failed, len(all), dir)}
	}
	return nil
}

// journalOf is the journal's directory, the default where none is named.
func journalOf(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	dir, err := knob.DefaultJournal()
	if err != nil {
		return "", fmt.Errorf("find the journal of settings: %w (--journal names another)", err)
	}
	return dir, nil
}

// leftoverOf says what became of an entry, or would where it is only listed.
func leftoverOf(e knob.Entry, listed bool) leftover {
	l := leftover{Setting: settingAt(e), End: e.End, ID: e.ID, Was: e.Was, Who: e.Who, PID: e.PID, Since: e.Since.UTC()}
	switch {
	case e.Err != nil:
		l.State, l.Text = leftFailed, e.Err.Error()
	case e.Held:
		l.State = leftHeld
	case listed:
		l.State = leftPending
	default:
		l.State, l.Text = leftDone, e.Done
	}
	return l
}

// settingAt is what the entry's setting was changed to, without the end, which of
// a host alone means nothing.
func settingAt(e knob.Entry) string {
	s := e.Setting
	if s.Knob == "" {
		return "a setting that can't be read"
	}
	s.End = spec.EndBoth
	return s.String()
}

// tellLeftovers prints the list. complete says that nothing kept it from being
// whole, so that an empty one means something.
func tellLeftovers(w io.Writer, dir string, all []leftover, format string, complete bool) error {
	if format == "json" {
		return printJSON(w, struct {
			Schema  string     `json:"schema"`
			Journal string     `json:"journal"`
			Entries []leftover `json:"entries"`
		}{restoreSchema, dir, all})
	}
	if len(all) == 0 && complete {
		return printed(fmt.Fprintf(w, "nothing is left to restore in %s\n", dir))
	}
	var text strings.Builder
	for _, l := range all {
		text.WriteString(oneLine(l.line()) + "\n")
	}
	return printed(io.WriteString(w, text.String()))
}

// line is the leftover in a line.
func (l leftover) line() string {
	by := fmt.Sprintf("%s, process %d, %s", l.Who, l.PID, l.Since.Format("2006-01-02 15:04:05 UTC"))
	switch l.State {
	case leftHeld:
		return fmt.Sprintf("held    %s: it was %s; who changed it lives, and will restore it (%s)", l.Setting, was(l.Was), by)
	case leftPending:
		return fmt.Sprintf("left    %s: it was %s (by %s)", l.Setting, was(l.Was), by)
	case leftFailed:
		return fmt.Sprintf("FAILED  %s: %s (by %s)", l.Setting, l.Text, by)
	}
	return fmt.Sprintf("done    %s: %s (by %s)", l.Setting, l.Text, by)
}

// was is what a setting was, cut where it is long.
func was(text string) string {
	if len(text) > 60 {
		return text[:60] + "..."
	}
	return text
}
