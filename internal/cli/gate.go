package cli

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
)

// gateFlags are --fail-on and --bisect.
type gateFlags struct {
	texts  []string
	bisect bool
	gates  []compare.Gate
}

// addGate adds the flags to a command that makes a comparison. Before it
// measures anything the command calls check, and when its report is printed and
// nothing else went wrong, judge.
func addGate(fl *pflag.FlagSet) *gateFlags {
	g := &gateFlags{}
	fl.StringArrayVar(&g.texts, "fail-on", nil,
		"exit with 1 if a row of the report is so: VERDICT[:[TEST/]METRIC[:PERCENT]], VERDICT of worse, better, different, unsure; comma-separated, repeatable (see docs/gates.md)")
	fl.BoolVar(&g.bisect, bisectFlag, false,
		"exit as git bisect run wants it: 0 good, 1 bad, 125 not measured or undecided, 128 and more to stop; without --fail-on it fails on worse")
	return g
}

// given says that there is something to judge.
func (g *gateFlags) given() bool { return len(g.texts) > 0 || g.bisect }

// check reads the gates, and reports one that no comparison of those tests can
// answer; without tests, those are not known yet.
func (g *gateFlags) check(tests ...spec.Test) error {
	g.gates = nil
	if len(g.texts) == 0 && g.bisect {
		g.gates = []compare.Gate{{Verdict: compare.Worse}}
	}
	for _, text := range g.texts {
		gates, err := compare.ParseGates(text)
		if err != nil {
			return usageError("--fail-on: %w", err)
		}
		g.gates = append(g.gates, gates...)
	}
	for _, gate := range g.gates {
		if err := gate.FitsTests(tests); err != nil && len(tests) > 0 {
			return usageError("--fail-on: %w", err)
		}
	}
	return nil
}

// judge is nil where the report passes. Otherwise its error says which rows
// failed and has the exit status: ExitGate; or ExitUnmeasured where a row has
// no figures, or for a bisection where rows are unsure.
func (g *gateFlags) judge(rep *compare.Report) error {
	if len(g.gates) == 0 {
		return nil
	}
	said, err := rep.Judge(g.gates)
	switch {
	case len(said.Failed) > 0:
		return &exitError{ExitGate, fmt.Errorf("failed on %s: %s", g, firstOf(said.Failed))}
	case err != nil:
		return &exitError{ExitUnmeasured, err}
	case g.bisect && len(said.Open) > 0:
		return &exitError{ExitUnmeasured, fmt.Errorf("undecided on %s: %s", g, firstOf(said.Open))}
	}
	return nil
}

func (g *gateFlags) String() string {
	var all []string
	for _, gate := range g.gates {
		all = append(all, gate.String())
	}
	return strings.Join(all, ",")
}

// firstOf lists as many rows as a line bears.
func firstOf(rows []string) string {
	const most = 3
	if len(rows) > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(rows[:most], "; "), len(rows)-most)
	}
	return strings.Join(rows, "; ")
}

// What git bisect run makes of an exit status (git-bisect(1)): 125 skips the
// commit, 1 to 127 is bad, and what is above that ends the bisection.
const (
	bisectSkip  = 125
	bisectUsage = 129
	bisectStop  = 130
)

const bisectFlag = "bisect"

// bisecting says whether a command line asks for git's statuses. It looks at the
// words, since a command line that is wrong must not make a commit a bad one.
func bisecting(args []string) bool {
	on := false
	for _, a := range args {
		if a == "--" {
			break
		}
		if a == "--"+bisectFlag {
			on = true
		} else if v, ok := strings.CutPrefix(a, "--"+bisectFlag+"="); ok {
			b, err := strconv.ParseBool(v)
			on = b || err != nil
		}
	}
	return on
}

// forBisect is an exit status as git bisect run wants it. Those that are such
// already, a second process's, stay.
func forBisect(status int) int {
	switch status {
	case ExitUsage:
		return bisectUsage
	case ExitUnmeasured:
		return bisectSkip
	case ExitInterrupted:
		return bisectStop
	}
	return status
}

// abortOnPanic has a panic end the process by a signal, as which git bisect run
// takes it, and not by the status of a bad commit.
func abortOnPanic() { debug.SetTraceback("crash") }
