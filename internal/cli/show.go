package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/summary"
	"netdelta/internal/unit"
)

// showFlags holds what the command line gives.
type showFlags struct {
	store          string
	output         outputFlags
	raw, intervals bool
}

func newShow() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show REF",
		Short: "Print a run that is kept",
		Long: `Prints the report of a run that is kept, with the machines that it ran on.
REF is an id, the beginning of one that no other run has, @NAME, a baseline, a
label, which stands for its newest run, or a file that netdelta compare reads.`,
		Example: `  netdelta show old
  netdelta show 7f3k --raw > old.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("show takes one run, an id or a label, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), f, args[0], cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", storeHelp)
	f.output.add(fl)
	fl.BoolVar(&f.raw, "raw", false, "print the whole run with its raw trials as JSON, for netdelta compare to read")
	fl.BoolVar(&f.intervals, "intervals", false, "print the figures of intervals, a line each")
	return cmd
}

func show(ctx context.Context, f showFlags, ref string, stdout io.Writer) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if f.raw && f.intervals {
		return usageError("--raw and --intervals exclude each other: give one of them")
	}
	run, trials, err := shown(ctx, f.store, ref)
	if err != nil {
		return err
	}
	switch {
	case f.raw:
		data, err := result.EncodeExport(run, trials)
		if err != nil {
			return &exitError{ExitUnmeasured, err}
		}
		return printed(stdout.Write(data))
	case f.intervals:
		return printed(io.WriteString(stdout, intervals(trials)))
	}
	if run.Plan != nil && !run.Plan.Single() {
		rep, err := comparison(run, trials)
		if err != nil {
			return &exitError{ExitUnmeasured, err}
		}
		return f.output.write(stdout, documentOf(&rep, run, trials), report.Options{})
	}
	rep := summary.Build(run, trials)
	d := compare.Document{Summary: &rep, Kept: []compare.Kept{{Run: run, Trials: trials}}}
	return f.output.write(stdout, &d, report.Options{Machines: true})
}

// shown is the run that is meant: the one in a file, or the newest kept one.
func shown(ctx context.Context, path, ref string) (result.Run, []result.Trial, error) {
	if kept, ok, err := fileOf(ref); ok {
		switch {
		case err != nil:
			return result.Run{}, nil, err
		case len(kept) != 1:
			return result.Run{}, nil, usageError("file %s has %s: compare it, or import it and show one", ref, unit.Count(len(kept), "run"))
		}
		return kept[0].Run, kept[0].Trials, nil
	}
	s, err := openKept(ctx, path)
	if err != nil {
		return result.Run{}, nil, err
	}
	defer s.Close()
	run, err := store.Latest(ctx, s, ref)
	if err != nil {
		return result.Run{}, nil, storeFailed(err)
	}
	trials, damage := collect(ctx, s, run.ID)
	run.Warnings = append(run.Warnings, damage...)
	if ctx.Err() != nil {
		return result.Run{}, nil, storeFailed(ctx.Err())
	}
	return run, trials, nil
}

// fileOf reads the runs in a file, if what is meant looks like a file's name and there
// is one.
func fileOf(ref string) (kept []compare.Kept, ok bool, err error) {
	if !strings.ContainsRune(ref, os.PathSeparator) && filepath.Ext(ref) == "" {
		return nil, false, nil
	}
	if _, err := os.Stat(ref); err != nil {
		return nil, false, nil
	}
	of, err := readExport(ref)
	return of.runs, true, err
}

// collect returns a run's trials. A record that can't be read is left out, and
// becomes a warning: the others are as good as before.
func collect(ctx context.Context, s store.Store, id string) (trials []result.Trial, damage []result.Warning) {
	for t, err := range s.Trials(ctx, id) {
		if err != nil {
			damage = append(damage, result.Warning{Code: "unreadable", Text: "a trial is left out: " + oneLine(err.Error())})
			continue
		}
		trials = append(trials, t)
	}
	return trials, damage
}

// intervals lists what was measured within the windows, trial by trial.
func intervals(trials []result.Trial) string {
	var b strings.Builder
	for _, t := range trials {
		for _, e := range []*result.End{&t.Local, t.Remote} {
			if e == nil {
				continue
			}
			for _, i := range e.Intervals {
				if line := intervalLine(result.Live{Test: t.Test, End: e.Role, Interval: i}); line != "" {
					fmt.Fprintf(&b, "%s  %s\n", t.Start.UTC().Add(i.At).Format("15:04:05.0"), line)
				}
			}
		}
	}
	if b.Len() == 0 {
		return "this run has no intervals: its windows were too short to be divided,\nor it was told not to (run --time, --interval)\n"
	}
	return b.String()
}
