package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/interop"
	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
	"netdelta/internal/unit"
)

// importFlags holds what the command line gives.
type importFlags struct {
	store, label string
	dryRun, list bool
}

func newImport() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read what other programs printed, and keep it as a run",
		Long: `Reads outputs of other programs, or what people posted of them, shows what was
understood, each figure with its unit and line, and what was not, and keeps each
file as a run. Files that netdelta export wrote are kept as they are. The same
content is kept once. FILE - is standard input.

A figure that is not in the file is not made up: a test that failed has no data,
and not zero.`,
		Example: `  netdelta import before.txt --label before
  netdelta import --dry-run post.txt
  netdelta import --list`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.list {
				return usageError("import takes files, got none")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return printed(io.WriteString(cmd.OutOrStdout(), toolList()))
			}
			return importFiles(cmd.Context(), &f, args, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.StringVar(&f.label, "label", "", "name for the runs: those of one label are repetitions")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only show what is understood")
	fl.BoolVar(&f.list, "list", false, "list the programs whose outputs are read")
	return cmd
}

func toolList() string {
	var b strings.Builder
	for _, t := range interop.Tools() {
		fmt.Fprintf(&b, "%-10s %s\n", t.Name, t.About)
	}
	return b.String()
}

// incoming is what one file gave.
type incoming struct {
	name string
	out  *interop.Outcome // nil for a file of this program
	kept []compare.Kept
}

// importFiles reads all files before it keeps any.
func importFiles(ctx context.Context, f *importFlags, names []string, stdout io.Writer) error {
	if err := result.CheckLabel(f.label); err != nil {
		return &exitError{ExitUsage, err}
	}
	var all []incoming
	for _, name := range names {
		in, err := readIncoming(name)
		if err != nil {
			return err
		}
		all = append(all, in)
	}
	silent := 0
	for i := range all {
		if all[i].empty() {
			silent++
		}
		if err := printed(io.WriteString(stdout, all[i].text())); err != nil {
			return err
		}
	}
	if !f.dryRun && silent < len(all) {
		if err := keepIncoming(ctx, f, all, stdout); err != nil {
			return err
		}
	}
	if silent > 0 {
		return &exitError{ExitUnmeasured, fmt.Errorf("%d of %s without a figure: no data, which is not zero", silent, unit.Count(len(all), "file"))}
	}
	return nil
}

func readIncoming(name string) (incoming, error) {
	fail := func(err error) (incoming, error) { return incoming{}, usageError("file %s: %w", name, err) }
	data, err := readData(name)
	if err != nil {
		return fail(err)
	}
	kept, ours, err := readRunFile(data)
	switch {
	case err != nil:
		return fail(err)
	case ours:
		return incoming{name: name, kept: kept}, nil
	}
	out, err := interop.Read(name, data)
	switch {
	case err != nil:
		return fail(err)
	case !understood(&out):
		return incoming{}, notUnderstood(name, &out)
	}
	return incoming{name, &out, []compare.Kept{keptOf(&out, data)}}, nil
}

// empty says that a program's output has no figure.
func (in *incoming) empty() bool { return in.out != nil && figuresIn(in.out) == 0 }

// text is what was understood, and what was not.
func (in *incoming) text() string {
	var b strings.Builder
	if in.out == nil {
		fmt.Fprintf(&b, "%s: %s of netdelta\n", in.name, unit.Count(len(in.kept), "run"))
		return b.String()
	}
	fmt.Fprintf(&b, "%s: %s\n", oneLine(in.name), found(in.out))
	for i := range in.out.Tests {
		testText(&b, &in.out.Tests[i])
	}
	for i, p := range in.out.Problems {
		if i == 0 {
			b.WriteString("  not taken\n")
		}
		lines := fmt.Sprintf("line %d", p.From)
		if p.To > p.From {
			lines = fmt.Sprintf("lines %d to %d", p.From, p.To)
		}
		fmt.Fprintf(&b, "    %s: %s\n", lines, oneLine(p.Text))
	}
	return b.String()
}

// testText is one test with its figures, a line each: the metric, its end, the value
// in a readable unit, the line, and what was printed there.
func testText(b *strings.Builder, t *scan.Test) {
	fmt.Fprintf(b, "  %s", oneLine(t.Imported.Test().Name))
	if t.Version != "" {
		fmt.Fprintf(b, ", version %s", oneLine(t.Version))
	}
	if len(t.Variant) > 0 {
		fmt.Fprintf(b, " (%s)", variantText(t))
	}
	b.WriteString("\n")
	if len(t.Figures) == 0 {
		b.WriteString("    no data\n")
	}
	for i := range t.Figures {
		f := &t.Figures[i]
		line := ""
		if f.Line > 0 {
			line = fmt.Sprintf("line %d", f.Line)
		}
		row := fmt.Sprintf("    %-16s %-6s %12s  %-9s %s", oneLine(f.Metric), f.End, unit.Format(f.Value, f.Unit), line, clipped(oneLine(f.Text), 20))
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	for _, w := range t.Warnings {
		fmt.Fprintf(b, "    ! %s\n", oneLine(w.Text))
	}
}

func variantText(t *scan.Test) string {
	var parts []string
	for _, f := range factorsOf(variantsIn([]compare.Kept{{Trials: []result.Trial{{Variant: t.Variant}}}})) {
		parts = append(parts, f.Name+"="+t.Variant[f.Name])
	}
	return oneLine(strings.Join(parts, " "))
}

// keepIncoming keeps what has figures, each content once.
func keepIncoming(ctx context.Context, f *importFlags, all []incoming, stdout io.Writer) error {
	s, err := sqlite.Open(ctx, f.store, sqlite.Options{})
	if err != nil {
		return storeFailed(err)
	}
	defer s.Close()
	for i := range all {
		if all[i].empty() {
			continue
		}
		for _, k := range all[i].kept {
			said, err := keepRun(ctx, s, f.label, k, all[i].out != nil)
			if err != nil {
				return err
			}
			if err := printed(fmt.Fprintln(stdout, said)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepRun keeps one run with its trials, or says that it is kept.
func keepRun(ctx context.Context, s store.Store, label string, k compare.Kept, anothers bool) (string, error) {
	run := k.Run
	if label != "" {
		run.Label = label
	}
	if anothers {
		run.Start = time.Now()
		run.End, run.Version = run.Start, versionString()
	}
	name := "run " + run.ID
	if run.Label != "" {
		name += " (" + run.Label + ")"
	}
	err := s.Begin(ctx, run)
	if errors.Is(err, store.ErrExists) {
		return "run " + run.ID + " has this content and is kept already", nil
	}
	if err != nil {
		return "", storeFailed(err)
	}
	// An interrupt leaves no half of it.
	whole := context.WithoutCancel(ctx)
	err = s.Append(whole, run.ID, k.Trials...)
	if err == nil {
		err = s.Finish(whole, run.ID, run.State, run.End, nil)
	}
	if err != nil {
		return "", storeFailed(errors.Join(err, s.Finish(whole, run.ID, result.Failed, run.End, nil), s.Remove(whole, run.ID)))
	}
	return fmt.Sprintf("kept as %s, %s", name, unit.Count(len(k.Trials), "trial")), nil
}
