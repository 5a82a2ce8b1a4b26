package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// exportFlags hold what the command line gives.
type exportFlags struct {
	store  string
	redact bool
	output outputFile
}

func newExport() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export REF...",
		Short: "Write runs that are kept into one file to hand on",
		Long: `Writes runs with all their raw trials, the machines that they ran on and their
plans into one small file. netdelta compare, show and plot read it as it is, and
netdelta import keeps what is in it; so a post can carry its evidence.

REF is as in netdelta show, but a label stands for all its runs, which are
repetitions of each other.`,
		Example: `  netdelta export old new -o post.netdelta
  netdelta export 7f3k --redact -o post.netdelta`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("export takes runs, each an id or a label, got none")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return export(cmd.Context(), &f, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.BoolVar(&f.redact, "redact", false, "leave out the names and addresses of hosts")
	fl.StringVarP(&f.output.path, "output", "o", "", "file to write, whole or not at all (default: standard output, if that is no terminal)")
	return cmd
}

func export(ctx context.Context, f *exportFlags, refs []string, stdout, stderr io.Writer) error {
	if err := f.output.check("output"); err != nil {
		return err
	}
	if out, isFile := stdout.(*os.File); f.output.path == "" && isFile && term.IsTerminal(int(out.Fd())) {
		return usageError("what export writes is nothing for a terminal: give it a file with --output")
	}
	from := library{path: f.store}
	defer from.close()
	var all []result.Bundled
	trials := 0
	for _, ref := range refs {
		found, err := from.kept(ctx, ref)
		if err != nil {
			return err
		}
		for _, w := range found.damage {
			fmt.Fprintf(stderr, "netdelta: %s\n", oneLine(w.Text))
		}
		for _, k := range found.runs {
			if slices.ContainsFunc(all, func(x result.Bundled) bool { return x.Run.ID == k.Run.ID }) {
				continue
			}
			if k.Run.State == result.Running {
				return &exitError{ExitUnmeasured, fmt.Errorf("export run %s: it is still being measured: wait until it has ended", k.Run.ID)}
			}
			if f.redact {
				k.Run = result.Redacted(k.Run)
			}
			all, trials = append(all, result.Bundled(k)), trials+len(k.Trials)
		}
	}
	data, err := result.EncodeBundle(all)
	if err != nil {
		return &exitError{ExitUnmeasured, err}
	}
	if err := f.output.put(stdout, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write the bundle: %w", err)}
	}
	if f.output.path != "" {
		fmt.Fprintf(stderr, "netdelta: %s with %s in %s (%d KiB)\n", unit.Count(len(all), "run"), unit.Count(trials, "trial"), f.output.path, (len(data)+1023)/1024)
	}
	return nil
}
