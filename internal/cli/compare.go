package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
)

// maxExport is the largest file that is read, in bytes: some thousand trials
// with full histograms.
const maxExport = 256 << 20

func newCompare() *cobra.Command {
	var file, margin string
	var output outputFlags
	var gate *gateFlags
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare runs that are kept, or files",
		Long: `Compares all trials of OLD with all trials of NEW, test by test. Each is a
label, which stands for all its runs; the id of a run or the beginning of
one; @NAME, a baseline; or a file that netdelta show --raw wrote. Runs of
run --boot are compared boot by boot, from three boots a side on.

Separate runs have in their difference all that changed between them, the
machines' drift and what differs from boot to boot included. Alternate the
variants in one run where that is possible.`,
		Example: `  netdelta compare old new
  netdelta compare 7f3k old.json --margin 5%
  netdelta compare @good new --fail-on worse:rtt_p50:5%`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError("compare takes OLD and NEW, each a label, an id or a file, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompare(cmd.Context(), file, args, margin, &output, gate, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&file, "store", "", storeHelp)
	fl.StringVar(&margin, "margin", "2%", "smallest change that matters")
	output.add(fl)
	gate = addGate(fl)
	return cmd
}

func runCompare(ctx context.Context, file string, args []string, margin string, output *outputFlags, gate *gateFlags, stdout io.Writer) error {
	if err := output.check(); err != nil {
		return err
	}
	share, err := parsePercent(margin)
	if err != nil {
		return usageError("margin: %w", err)
	}
	if err := gate.check(); err != nil {
		return err
	}
	from := library{path: file}
	defer from.close()
	var sides [2]side
	for i, ref := range args {
		if sides[i], err = from.find(ctx, ref); err != nil {
			return err
		}
	}
	rep, err := compare.Runs(sides[0].runs, sides[1].runs, compare.RunsOptions{
		Old: sides[0].name, New: sides[1].name,
		Margin:   share,
		Warnings: append(sides[0].damage, sides[1].damage...),
		Command:  "netdelta " + strings.Join(commandWords(os.Args[1:], 0, true), " "),
		Version:  versionString(),
	})
	if errors.Is(err, compare.ErrNothingInCommon) {
		return &exitError{ExitUnmeasured, err}
	} else if err != nil {
		return &exitError{ExitUsage, err}
	}
	d := compare.Document{Report: &rep, Kept: slices.Concat(sides[0].runs, sides[1].runs)}
	if err := output.write(stdout, &d, report.Options{}); err != nil {
		return err
	}
	return gate.judge(&rep)
}

// side is what one argument stands for.
type side struct {
	name   string // empty: the runs' own label or ids
	runs   []compare.Kept
	damage []result.Warning
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

// find returns the runs that a text means: the one in a file if it looks like
// the name of a file and there is one, else those in the store.
func (l *library) find(ctx context.Context, ref string) (side, error) {
	file := strings.ContainsRune(ref, os.PathSeparator) || strings.HasSuffix(ref, ".json")
	if file {
		if _, err := os.Stat(ref); err == nil {
			return readExport(ref)
		}
	}
	of, err := l.kept(ctx, ref)
	if file && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrMissing) || errors.Is(err, store.ErrReadOnly)) {
		return readExport(ref) // which says what is wrong with it
	}
	return of, err
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

// readExport reads the run in a file.
func readExport(name string) (side, error) {
	fail := func(err error) (side, error) { return side{}, usageError("file %s: %w", name, err) }
	f, err := os.Open(name)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return fail(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return fail(errors.New("it is no ordinary file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxExport+1))
	if err != nil {
		return fail(err)
	}
	if len(data) > maxExport {
		return fail(fmt.Errorf("it has more than %d MiB", maxExport>>20))
	}
	run, trials, err := result.DecodeExport(data)
	if err != nil {
		return fail(err)
	}
	return side{runs: []compare.Kept{{Run: run, Trials: trials}}}, nil
}
