package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/picture"
	"netdelta/internal/report/plot"
	toterm "netdelta/internal/report/term"
)

// plotFlags hold what the command line gives.
type plotFlags struct {
	store, margin, format string
	figures               []string
	list                  bool
	output                outputFile
}

func newPlot() *cobra.Command {
	var f plotFlags
	cmd := &cobra.Command{
		Use:   "plot REF [REF...]",
		Short: "Draw the figures of a run or a comparison as SVG or PNG",
		Long: `Draws figures of what netdelta show prints of one REF, or netdelta compare of
several: how much changed (forest), how long round trips took (ecdf, percentiles),
drift (blocks), sizes (sweep), CPU (cost), single trials (values), where time
goes (stages) and what changed of that (waterfall). --list lists
what there is. A figure goes into the file that --output names, several into a
folder; without it one is drawn in the terminal.`,
		Example: `  netdelta plot old new --list
  netdelta plot old new --figure forest -o forest.svg
  netdelta plot old new --format png -o figures/
  netdelta plot old new --figure forest --format term`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("plot takes runs or files, got none")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return draw(cmd.Context(), &f, args, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters, in comparisons of runs")
	fl.StringArrayVar(&f.figures, "figure", nil, "figure to draw, or the beginning of its name up to a point; repeatable (default: all)")
	fl.StringVar(&f.format, "format", "", "svg, png or term (default: what the name of --output ends in, else svg into a folder and term elsewhere)")
	fl.BoolVar(&f.list, "list", false, "list the figures")
	fl.StringVarP(&f.output.path, "output", "o", "", "file for one figure, or folder for several")
	return cmd
}

// folder says that the output is a folder: it is one, or its name ends like one.
func (f *plotFlags) folder() bool {
	if strings.HasSuffix(f.output.path, string(os.PathSeparator)) {
		return true
	}
	info, err := os.Stat(f.output.path)
	return err == nil && info.IsDir()
}

// form is the form that is asked for.
func (f *plotFlags) form() (string, error) {
	form := f.format
	switch ending := strings.ToLower(filepath.Ext(f.output.path)); {
	case form != "":
	case f.output.path == "":
		form = "term"
	case f.folder():
		form = "svg"
	default:
		form = strings.TrimPrefix(ending, ".")
	}
	switch {
	case form != "svg" && form != "png" && form != "term":
		return "", usageError("unknown format %q: valid are svg, png, term", form)
	case form != "term" && f.output.path == "" && !f.list:
		return "", usageError("%s needs --output, a file or a folder", form)
	}
	return form, nil
}

func draw(ctx context.Context, f *plotFlags, args []string, stdout io.Writer) error {
	form, err := f.form()
	if err != nil {
		return err
	}
	share, err := parsePercent(f.margin)
	if err != nil {
		return usageError("--margin: %w", err)
	}
	if !f.folder() {
		if err := f.output.check("output"); err != nil {
			return err
		}
	}
	d, err := documentFor(ctx, f.store, args, share)
	if err != nil {
		return err
	}
	all := picture.Of(d)
	if f.list {
		for _, x := range all {
			if err := printed(fmt.Fprintf(stdout, "%-40s %s\n", x.Name, oneLine(x.Title))); err != nil {
				return err
			}
		}
		return nil
	}
	chosen := all
	if len(f.figures) > 0 {
		chosen = nil
		for _, name := range f.figures {
			found, err := picture.Named(all, name)
			if err != nil {
				return &exitError{ExitUsage, err}
			}
			chosen = append(chosen, found...)
		}
	}
	if len(chosen) == 0 {
		return &exitError{ExitUnmeasured, fmt.Errorf("there is nothing in %s that can be drawn", strings.Join(args, " "))}
	}
	if len(chosen) > 1 && form != "term" && !f.folder() {
		return usageError("%d figures need a folder (--output FOLDER/), or choose one with --figure: %s", len(chosen), strings.Join(picture.Names(chosen), ", "))
	}
	return f.draw(form, chosen, stdout)
}

// draw writes the figures.
func (f *plotFlags) draw(form string, chosen []picture.Figure, stdout io.Writer) error {
	failed := func(err error) error { return &exitError{ExitUnmeasured, fmt.Errorf("draw: %w", err)} }
	if f.folder() {
		if err := os.MkdirAll(f.output.path, 0o755); err != nil {
			return failed(err)
		}
	}
	for i := range chosen {
		x := &chosen[i]
		to := f.output
		if f.folder() {
			to.path = filepath.Join(f.output.path, x.Name+"."+strings.Replace(form, "term", "txt", 1))
		}
		err := to.put(stdout, func(w io.Writer) error {
			switch form {
			case "svg":
				return plot.SVG(w, x)
			case "png":
				return plot.PNG(w, x)
			}
			o := outputFlags{color: "auto", file: to}
			o.format.Name = "text"
			look, styled := o.look(stdout)
			look.Color = look.Color && styled
			if i > 0 && to.path == "" {
				fmt.Fprintln(w)
			}
			return toterm.Plot(w, x, look)
		})
		if err != nil {
			return failed(err)
		}
	}
	return nil
}

// documentFor is what show has of one reference, and compare of several.
func documentFor(ctx context.Context, store string, args []string, margin float64) (*compare.Document, error) {
	from := library{path: store}
	defer from.close()
	sides := make([]side, len(args))
	for i, ref := range args {
		var err error
		if sides[i], err = from.operand(ctx, ref); err != nil {
			return nil, err
		}
	}
	if len(sides) == 1 && sides[0].table == nil {
		run := sides[0].runs[0]
		if run.Run.Plan == nil || run.Run.Plan.Single() {
			return documentOfSingle(run.Run, run.Trials), nil
		}
	}
	rep, err := compared(sides, nil, compare.RunsOptions{Margin: margin, Version: versionString()})
	if err != nil {
		var exit *exitError
		if errors.As(err, &exit) {
			return nil, err
		}
		return nil, &exitError{ExitUnmeasured, err}
	}
	d := compare.Document{Report: &rep}
	for _, s := range sides {
		d.Kept = append(d.Kept, s.runs...)
	}
	return &d, nil
}
