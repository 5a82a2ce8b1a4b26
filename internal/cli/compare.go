package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/interop/scan"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
)

func newCompare() *cobra.Command {
	var f compareFlags
	var gate *gateFlags
	cmd := &cobra.Command{
		Use:   "compare OLD NEW [NEW...]",
		Short: "Compare runs that are kept, files, or other programs' outputs",
		Long: `Compares all trials of OLD with all trials of NEW, test by test. Each is a
label, which stands for all its runs; the id of a run or the beginning of
one; @NAME, a baseline; or a file that netdelta export or show --raw wrote. Runs
of run --boot are compared boot by boot, from three boots a side on.

Each can also be a file of what another program printed, or people posted
(netdelta import --list has the programs); several files with commas between
them, which are repetitions; and either with a name before it, NAME=FILE,FILE.
Of other programs' outputs more than two can be given: each is compared with
the first. One file alone is compared within itself, if it has variants: a table
of a post, or a run of a plan. --claims has what a post says of its figures.

Separate runs have in their difference all that changed between them, the
machines' drift and what differs from boot to boot included. Alternate the
variants in one run where that is possible.`,
		Example: `  netdelta compare old new
  netdelta compare 7f3k old.json --margin 5%
  netdelta compare @good new --fail-on worse:rtt_p50:5%
  netdelta compare before.txt after.txt
  netdelta compare old=a1.txt,a2.txt new=b1.txt,b2.txt
  netdelta compare post.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("compare takes OLD and NEW, each a label, an id or a file, got 0")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompare(cmd.Context(), &f, args, gate, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters")
	fl.StringVar(&f.claims, "claims", "", "file with what a post says of these figures, to be held against them")
	f.output.add(fl)
	gate = addGate(fl)
	return cmd
}

// compareFlags holds what the command line gives.
type compareFlags struct {
	store, margin, claims string
	output                outputFlags
}

func runCompare(ctx context.Context, f *compareFlags, args []string, gate *gateFlags, stdout io.Writer) error {
	if err := f.output.check(); err != nil {
		return err
	}
	share, err := parsePercent(f.margin)
	if err != nil {
		return usageError("margin: %w", err)
	}
	if err := gate.check(); err != nil {
		return err
	}
	from := library{path: f.store}
	defer from.close()
	sides := make([]side, len(args))
	for i, ref := range args {
		if sides[i], err = from.operand(ctx, ref); err != nil {
			return err
		}
	}
	var claims []compare.Claim
	if f.claims != "" {
		if claims, err = readClaims(f.claims); err != nil {
			return err
		}
	}
	rep, err := compared(sides, claims, compare.RunsOptions{
		Margin:  share,
		Command: "netdelta " + strings.Join(commandWords(os.Args[1:], 0, true), " "),
		Version: versionString(),
	})
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return err
	case errors.Is(err, compare.ErrNothingInCommon):
		return &exitError{ExitUnmeasured, err}
	case err != nil:
		return &exitError{ExitUsage, err}
	}
	d := compare.Document{Report: &rep}
	for _, s := range sides {
		d.Kept = append(d.Kept, s.runs...)
	}
	if err := f.output.write(stdout, &d, report.Options{}); err != nil {
		return err
	}
	return gate.judge(&rep)
}

// side is what one argument stands for.
type side struct {
	name   string // empty: the runs' own label or ids
	runs   []compare.Kept
	damage []result.Warning
	files  []string    // that it was read from; nil for what is kept
	table  *scan.Table // what a file says of its own variants; nil for most
}

// library is where runs are found: in files, and in a store that is opened
// when it is needed.
type library struct {
	path  string
	store *sqlite.Store
}

func (l *library) close() {
	if l.store != nil {
		l.store.Close()
	}
}

// find returns the runs that a text means: those in a file if it looks like the name
// of one and there is one, else those in the store, else those in a file after all.
func (l *library) find(ctx context.Context, ref string) (side, error) {
	_, err := os.Stat(ref)
	there := err == nil || ref == "-"
	if there && filepath.Ext(ref) != "" || there && strings.ContainsRune(ref, os.PathSeparator) || ref == "-" {
		return readExport(ref)
	}
	of, err := l.kept(ctx, ref)
	if !there && !namesFile(ref) {
		return of, err
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrMissing) || errors.Is(err, store.ErrReadOnly) {
		return readExport(ref) // which says what is wrong with it
	}
	return of, err
}

// namesFile says that a text that is no run was meant as the name of a file.
func namesFile(ref string) bool {
	endings := []string{".json", ".txt", ".log", ".out", ".csv", ".yaml", ".yml", ".netdelta"}
	return strings.ContainsRune(ref, os.PathSeparator) || slices.Contains(endings, strings.ToLower(filepath.Ext(ref)))
}

func (l *library) kept(ctx context.Context, ref string) (side, error) {
	if l.store == nil {
		s, err := openKept(ctx, l.path)
		if err != nil {
			return side{}, err
		}
		l.store = s
	}
	found, err := l.store.Find(ctx, ref)
	if err != nil {
		return side{}, storeFailed(err)
	}
	var of side
	for _, r := range found {
		trials, damage := collect(ctx, l.store, r.ID)
		if ctx.Err() != nil {
			return side{}, storeFailed(ctx.Err())
		}
		for i := range damage {
			damage[i].Text = "run " + r.ID + ": " + damage[i].Text
		}
		of.runs = append(of.runs, compare.Kept{Run: r, Trials: trials})
		of.damage = append(of.damage, damage...)
	}
	return of, nil
}
