package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	toterm "netdelta/internal/report/term"
)

// outputFlags say in which form a report is written, and where to.
type outputFlags struct {
	name, file, color string

	format report.Format
}

func (o *outputFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&o.name, "format", "", "report format: "+strings.Join(report.FormatNames(), ", ")+" (default text, or what the name of --output ends in)")
	fl.StringVarP(&o.file, "output", "o", "", "file to write the report to, whole or not at all (default: standard output)")
	fl.StringVar(&o.color, "color", "auto", "colours and a terminal's width for text: auto (where it goes to a terminal), always, never")
}

// check finds the form, before anything is measured.
func (o *outputFlags) check() error {
	var err error
	switch o.format, err = report.FormatOf("text"); {
	case o.name != "":
		o.format, err = report.FormatOf(o.name)
	case o.file != "":
		o.format, err = report.FormatOfFile(o.file)
	}
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	switch o.color {
	case "auto", "always", "never":
	default:
		return usageError("--color %q: valid are auto, always, never", o.color)
	}
	if o.file == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(o.file)); err != nil || !info.IsDir() {
		return usageError("--output %s: there is no folder %s", o.file, filepath.Dir(o.file))
	}
	if info, err := os.Stat(o.file); err == nil && info.IsDir() {
		return usageError("--output %s: it is a folder", o.file)
	}
	return nil
}

// text says that the report is text for people on standard output, behind which more
// can be said.
func (o *outputFlags) text() bool { return o.format.Name == "text" && o.file == "" }

// write writes the document where it is wanted.
func (o *outputFlags) write(stdout io.Writer, d *compare.Document, options report.Options) error {
	render := func(w io.Writer) error { return o.format.Render(w, d, options) }
	if look, styled := o.look(stdout); styled {
		render = func(w io.Writer) error {
			return toterm.Render(w, d, look, toterm.Options{Machines: options.Machines, Next: options.Next})
		}
	}
	if err := o.put(stdout, render); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write the report: %w", err)}
	}
	return nil
}

// put has render write to standard output or the file. A file is there whole or as it
// was before.
func (o *outputFlags) put(stdout io.Writer, render func(io.Writer) error) error {
	if o.file == "" {
		return render(stdout)
	}
	f, err := os.CreateTemp(filepath.Dir(o.file), "."+filepath.Base(o.file)+"-*")
	if err != nil {
		return err
	}
	err = render(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), o.file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// look is what the terminal can do that text goes to; false where it goes elsewhere,
// or is to be plain.
func (o *outputFlags) look(stdout io.Writer) (toterm.Look, bool) {
	look := toterm.Look{Width: 80, Color: os.Getenv("NO_COLOR") == "", Dark: true}
	if o.format.Name != "text" || o.color == "never" {
		return look, false
	}
	f, isFile := stdout.(*os.File)
	if o.file == "" && isFile && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			look.Width = max(40, width)
		}
		return look, os.Getenv("TERM") != "dumb" || o.color == "always"
	}
	return look, o.color == "always"
}
