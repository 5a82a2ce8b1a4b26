package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	toterm "netdelta/internal/report/term"
)

// outputFlags say in which form a report is written, and where to.
type outputFlags struct {
	name, color string
	file        outputFile
	trace       outputFile // a trace beside the report

	format report.Format
}

func (o *outputFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&o.name, "format", "", "report format: "+strings.Join(report.FormatNames(), ", ")+" (default text, or what the name of --output ends in)")
	fl.StringVarP(&o.file.path, "output", "o", "", "file to write the report to, whole or not at all (default: standard output)")
	fl.StringVar(&o.trace.path, "trace", "", "file to write single round trips with their stages to beside the report, for Perfetto (needs what --explain measures)")
	fl.StringVar(&o.color, "color", "auto", "colours and a terminal's width for text: auto (where it goes to a terminal), always, never")
}

// check finds the form, before anything is measured.
func (o *outputFlags) check() error {
	var err error
	switch o.format, err = report.FormatOf("text"); {
	case o.name != "":
		o.format, err = report.FormatOf(o.name)
	case o.file.path != "":
		o.format, err = report.FormatOfFile(o.file.path)
	}
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	switch o.color {
	case "auto", "always", "never":
	default:
		return usageError("--color %q: valid are auto, always, never", o.color)
	}
	return errors.Join(o.file.check("output"), o.trace.check("trace"))
}

// text says that the report is text for people on standard output, behind which more
// can be said.
func (o *outputFlags) text() bool { return o.format.Name == "text" && o.file.path == "" }

// write writes the document where it is wanted.
func (o *outputFlags) write(stdout io.Writer, d *compare.Document, options report.Options) error {
	render := func(w io.Writer) error { return o.format.Render(w, d, options) }
	if look, styled := o.look(stdout); styled {
		render = func(w io.Writer) error {
			return toterm.Render(w, d, look, toterm.Options{Machines: options.Machines, Next: options.Next})
		}
	}
	if err := o.file.put(stdout, render); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write the report: %w", err)}
	}
	if o.trace.path == "" {
		return nil
	}
	if err := o.trace.put(stdout, func(w io.Writer) error { return report.Trace(w, d) }); err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("write the trace: %w", err)}
	}
	return nil
}

// look is what the terminal can do that text goes to; false where it goes elsewhere,
// or is to be plain.
func (o *outputFlags) look(stdout io.Writer) (toterm.Look, bool) {
	look := toterm.Look{Width: 80, Color: os.Getenv("NO_COLOR") == "", Dark: true, ASCII: !utf8Locale(os.Getenv)}
	if o.format.Name != "text" || o.color == "never" {
		return look, false
	}
	f, isFile := stdout.(*os.File)
	if o.file.path == "" && isFile && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			look.Width = max(40, width)
		}
		return look, os.Getenv("TERM") != "dumb" || o.color == "always"
	}
	return look, o.color == "always"
}

// utf8Locale says that the locale has more than ASCII's characters: one that is not
// set leaves that open, and most terminals have them.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // as setlocale(3) looks them up
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
