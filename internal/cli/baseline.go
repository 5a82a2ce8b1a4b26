package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// baselinesSchema names the version of the list's JSON form.
const baselinesSchema = "netdelta.baselines/1"

// listedBaseline is a baseline as the list has it.
type listedBaseline struct {
	Name   string       `json:"name"`
	ID     string       `json:"id"`
	Label  string       `json:"label,omitempty"`
	Start  time.Time    `json:"start"`
	Target string       `json:"target,omitempty"`
	State  result.State `json:"state,omitempty"`
}

func newBaseline() *cobra.Command {
	var file, gone, format string
	cmd := &cobra.Command{
		Use:   "baseline [NAME RUN]",
		Short: "Name a run that others are compared with, or list such names",
		Long: `Gives the run that RUN means (an id, the beginning of one, or a label, which
stands for its newest run) a name. Wherever a run can be named, @NAME is that
run then. A name that another run had goes over to this one. Without NAME and
RUN it lists the names. The run of a baseline can't be removed.`,
		Example: `  netdelta baseline good old
  netdelta run bench2 --secret-file secret --against @good --fail-on worse
  netdelta baseline --remove good`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return usageError("baseline takes NAME and RUN, or nothing to list them, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			removing := cmd.Flags().Changed("remove")
			switch {
			case removing && len(args) > 0:
				return usageError("--remove takes the one name that it is given: leave out NAME and RUN")
			case format != "text" && format != "json":
				return usageError("unknown format %q: valid are text, json", format)
			}
			s, err := openKept(cmd.Context(), file)
			if err != nil {
				return err
			}
			defer s.Close()
			out := cmd.OutOrStdout()
			switch {
			case removing:
				return removeBaseline(cmd.Context(), s, gone, out)
			case len(args) == 2:
				return setBaseline(cmd.Context(), s, args[0], args[1], out)
			}
			return listBaselines(cmd.Context(), s, format, out)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&file, "store", "", storeHelp)
	fl.StringVar(&gone, "remove", "", "forget this name; its run stays")
	fl.StringVar(&format, "format", "text", "text or json, of the list")
	return cmd
}

func setBaseline(ctx context.Context, s store.Store, name, ref string, stdout io.Writer) error {
	name = strings.TrimPrefix(name, store.BaselineMark)
	if err := store.CheckBaseline(name); err != nil {
		return &exitError{ExitUsage, err}
	}
	run, err := store.Latest(ctx, s, ref)
	if err != nil {
		return storeFailed(err)
	}
	if err := s.SetBaseline(ctx, name, run.ID); err != nil {
		return storeFailed(err)
	}
	return printed(fmt.Fprintf(stdout, "%s%s is run %s\n", store.BaselineMark, name, runInShort(run)))
}

func removeBaseline(ctx context.Context, s store.Store, name string, stdout io.Writer) error {
	name = strings.TrimPrefix(name, store.BaselineMark)
	if err := s.RemoveBaseline(ctx, name); err != nil {
		return storeFailed(err)
	}
	return printed(fmt.Fprintf(stdout, "removed the name %s%s; its run is kept\n", store.BaselineMark, name))
}

// runInShort names a run by its id, with its label and when it began.
func runInShort(r result.Run) string {
	name := r.ID
	if r.Label != "" {
		name += fmt.Sprintf(" (%s)", r.Label)
	}
	return name + " of " + r.Start.UTC().Format("2006-01-02 15:04:05 UTC")
}

func listBaselines(ctx context.Context, s store.Store, format string, stdout io.Writer) error {
	kept, err := s.Baselines(ctx)
	if err != nil {
		return storeFailed(err)
	}
	all := make([]listedBaseline, 0, len(kept))
	for _, b := range kept {
		row := listedBaseline{Name: b.Name, ID: b.ID}
		run, err := store.Latest(ctx, s, b.ID)
		switch {
		case err == nil:
			row.Label, row.Start, row.Target, row.State = run.Label, run.Start.UTC(), run.Target, run.State
		case errors.Is(err, store.ErrCorrupt):
			// A run that can't be read is a baseline all the same.
		default:
			return storeFailed(err)
		}
		all = append(all, row)
	}
	if format == "json" {
		return printJSON(stdout, struct {
			Schema    string           `json:"schema"`
			Baselines []listedBaseline `json:"baselines"`
		}{baselinesSchema, all})
	}
	return printed(io.WriteString(stdout, baselineList(all)))
}

func baselineList(all []listedBaseline) string {
	if len(all) == 0 {
		return "no baselines are kept\n"
	}
	const most = 20
	names, labels := len("name"), len("label")
	for _, b := range all {
		names = max(names, min(len([]rune(b.Name))+1, most))
		labels = max(labels, min(len([]rune(b.Label)), labelWidth))
	}
	var text strings.Builder
	line := func(name, id, label, start, state string) {
		fmt.Fprintf(&text, "%s\n", strings.TrimRight(fmt.Sprintf("%-*s %-*s %-*s %-16s %s",
			names, clipped(name, names), result.RunIDLength, id, labels, clipped(label, labels), start, state), " "))
	}
	line("name", "id", "label", "start (UTC)", "state")
	for _, b := range all {
		start := "not to be read"
		if !b.Start.IsZero() {
			start = b.Start.Format("2006-01-02 15:04")
		}
		line(store.BaselineMark+b.Name, b.ID, b.Label, start, string(b.State))
	}
	return text.String()
}
