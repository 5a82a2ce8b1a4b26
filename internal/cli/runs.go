package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// runsSchema names the version of the list's JSON form.
const runsSchema = "netdelta.runs/1"

// listed is a run as the list has it.
type listed struct {
	ID     string       `json:"id"`
	Label  string       `json:"label,omitempty"`
	Start  time.Time    `json:"start"`
	Target string       `json:"target,omitempty"`
	State  result.State `json:"state"`
	Trials int          `json:"trials"`
}

func newRuns() *cobra.Command {
	var file, label, format string
	var limit int
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs that are kept",
		Long: `Lists the runs that are kept, the newest first. A run that its program never
finished is partial: the trials that it had are kept.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listRuns(cmd.Context(), file, store.Filter{Label: label, Limit: limit}, format, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&file, "store", "", storeHelp)
	fl.StringVar(&label, "label", "", "only runs of this label")
	fl.IntVar(&limit, "limit", 0, "only so many, the newest (0: all)")
	fl.StringVar(&format, "format", "text", "text or json")
	return cmd
}

func listRuns(ctx context.Context, file string, filter store.Filter, format string, stdout io.Writer) error {
	if format != "text" && format != "json" {
		return usageError("unknown format %q: valid are text, json", format)
	}
	if filter.Limit < 0 {
		return usageError("limit %d is out of range: 0 (all) and up", filter.Limit)
	}
	s, err := openKept(ctx, file)
	if err != nil {
		return err
	}
	defer s.Close()
	runs, err := s.Runs(ctx, filter)
	if err != nil {
		return storeFailed(err)
	}
	all := make([]listed, 0, len(runs))
	for _, r := range runs {
		groups, err := s.Tally(ctx, r.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue // removed since it was listed
		}
		if err != nil {
			return storeFailed(err)
		}
		row := listed{ID: r.ID, Label: r.Label, Start: r.Start.UTC(), Target: r.Target, State: r.State}
		for _, g := range groups {
			row.Trials += g.Trials
		}
		all = append(all, row)
	}
	if format == "json" {
		return printJSON(stdout, struct {
			Schema string   `json:"schema"`
			Runs   []listed `json:"runs"`
		}{runsSchema, all})
	}
	return printed(io.WriteString(stdout, runList(all)))
}

// printed is the outcome of writing what was asked for.
func printed(_ int, err error) error {
	if err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

// printJSON writes a list in its JSON form.
func printJSON(w io.Writer, list any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return printed(0, e.Encode(list))
}

// Widths of the list's columns that hold any text, so that a line has at most
// 72 columns.
const (
	labelWidth  = 12
	targetWidth = 15
)

func runList(all []listed) string {
	if len(all) == 0 {
		return "no runs are kept\n"
	}
	labels, targets := len("label"), len("target")
	for _, r := range all {
		labels = max(labels, min(len([]rune(r.Label)), labelWidth))
		targets = max(targets, min(len([]rune(r.Target)), targetWidth))
	}
	var b strings.Builder
	line := func(id, label, start, target, state, trials string) {
		fmt.Fprintf(&b, "%-*s %-*s %-16s %-*s %-8s %6s\n",
			result.RunIDLength, id, labels, clipped(label, labels), start, targets, clipped(target, targets), state, trials)
	}
	line("id", "label", "start (UTC)", "target", "state", "trials")
	for _, r := range all {
		line(r.ID, r.Label, r.Start.Format("2006-01-02 15:04"), r.Target, string(r.State), fmt.Sprint(r.Trials))
	}
	return b.String()
}

// clipped cuts a text to so many characters, and marks the cut.
func clipped(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:width-1]) + "~"
}
