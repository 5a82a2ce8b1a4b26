// Package cli is the command line: one file for each subcommand. It parses,
// asks the rooms below to do the work, and prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdelta/internal/roles"
)

// Exit statuses of every command; with --bisect they are git's.
const (
	ExitDone        = 0 // the measurement was made
	ExitGate        = 1 // a gate failed
	ExitUsage       = 2 // the command line or a plan is wrong
	ExitUnmeasured  = 3 // the measurement could not be made
	ExitInterrupted = 4 // interrupted; what was measured is kept
)

// Version is the release that this tree is of.
const Version = "0.5.0"

// exitError carries an exit status beside its error. A nil err says that what
// there was to say has been said.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return fmt.Sprint(e.err) }
func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

// Run runs the command line and returns the exit status. It prints to stdout
// what was asked for and to stderr all that is about it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if status, ok := roles.Dispatch(args); ok {
		return status
	}
	root := newRoot(args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	bisect := bisecting(args)
	if bisect {
		abortOnPanic()
	}
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitDone
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		// Cobra's own errors: an unknown command or flag, a bad value.
		exit = &exitError{ExitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintf(stderr, "netdelta: %s\n", said(exit.err))
	}
	if bisect {
		return forBisect(exit.status)
	}
	return exit.status
}

// linesError is an error whose text has lines that are to be kept: a place in a
// file, and a caret below it.
type linesError struct{ err error }

func (e *linesError) Error() string { return e.err.Error() }
func (e *linesError) Unwrap() error { return e.err }

// said is an error as it is printed.
func said(err error) string {
	if kept := (*linesError)(nil); !errors.As(err, &kept) {
		return oneLine(err.Error())
	}
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = oneLine(l)
	}
	return strings.Join(lines, "\n")
}

// oneLine keeps an error on one line, however deep it was wrapped, and its
// text, which may be another host's, from steering the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.Join(strings.FieldsFunc(s, isBreak), "; "))
}

func isBreak(r rune) bool { return r == '\n' || r == '\r' }

// newRoot is the whole command line. args are what follows the program's
// name, for the report to repeat and for a second run in a user namespace.
func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "netdelta",
		Short: "What a change did to a network path: how much, how sure, and why",
		Long: `netdelta measures variants of a network path in random order, close in
time, and says of every figure how much it changed, how sure that is, and
whether it matters.`,
		Args:          knownCommand,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
			kind := strings.NewReplacer("uint64", "number", "uint16", "port from 0 to 65535", "int", "number", "bool", "boolean (true, false)").Replace(bad.GetFlag().Value.Type())
			return usageError("--%s: %q is no %s; this flag is: %s", bad.GetFlag().Name, bad.GetValue(), kind, bad.GetFlag().Usage)
		}
		return usageError("%w (see netdelta %s --help)", err, strings.TrimPrefix(cmd.CommandPath(), "netdelta "))
	})
	root.AddCommand(newAb(args), newAgent(), newBaseline(), newCalibrate(args), newCompare(), newCounters(), newDoctor(), newExplain(), newExport(), newImport(), newLab(args), newMan(), newPlan(), newPlot(), newRestore(), newRm(), newRun(), newRuns(), newSecret(), newShow(), newTests(), newVersion(), newWeb())
	offerWords(root)
	return root
}

// knownCommand refuses what is no subcommand, naming those that are.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	return usageError("unknown command %q: valid are %s", args[0], strings.Join(names, ", "))
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printed(fmt.Fprintf(cmd.OutOrStdout(), "netdelta %s\n", versionString()))
		},
	}
}

// versionString is the release with the commit that it was built from, where
// the build knows it.
func versionString() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return Version + " (" + s.Value[:12] + ")"
		}
	}
	return Version
}
