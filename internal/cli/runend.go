package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// stateAfter says how far a run came.
func stateAfter(err error, trials int) result.State {
	switch {
	case err == nil, onlyUnrestored(err):
		return result.Complete
	case trials > 0 || errors.Is(err, run.ErrInterrupted):
		return result.Partial
	}
	return result.Failed
}

// onlyUnrestored says that all was measured, and that settings could not be put
// back after that.
func onlyUnrestored(err error) bool {
	return errors.Is(err, run.ErrUnrestored) && !errors.Is(err, run.ErrStopped) && !errors.Is(err, run.ErrInterrupted)
}

// about is what a run keeps of its early end.
func about(err error) []result.Warning {
	switch {
	case err == nil:
		return nil
	case onlyUnrestored(err):
		return []result.Warning{{Code: "unrestored", Text: oneLine(err.Error()), Advice: "see what netdelta restore says on that host"}}
	case errors.Is(err, run.ErrInterrupted):
		return []result.Warning{{Code: "interrupted", Text: "the run was interrupted; the trials before that are whole"}}
	}
	return []result.Warning{{Code: "stopped", Text: oneLine(err.Error())}}
}

// judgeRun is the exit status of a run, and what to say beside its report.
func judgeRun(err error, keep *keeper, waited time.Duration) (int, error) {
	kept := ""
	if keep.kept() {
		kept = fmt.Sprintf("; the %d trials before that are kept as run %s", len(keep.trials), keep.run.ID)
		if len(keep.trials) == 1 {
			kept = "; the one trial before that is kept as run " + keep.run.ID
		}
	}
	lost := keep.lost()
	switch {
	case onlyUnrestored(err):
		// Everything was measured.
		return ExitUnmeasured, also(err, lost)
	case err == nil && lost == nil:
		return ExitDone, nil
	case err == nil:
		return ExitUnmeasured, lost
	case errors.Is(err, run.ErrInterrupted) || errors.Is(err, context.Canceled):
		text := "interrupted"
		if len(keep.trials) == 0 {
			text += " before the first trial was finished; nothing is kept"
		}
		return ExitInterrupted, also(errors.New(text+kept), lost)
	}
	if waited == 0 && (errors.Is(err, ctl.ErrBusy) || errors.Is(err, ctl.ErrLimit)) {
		kept += " (--wait 10m waits for that to end)"
	}
	return ExitUnmeasured, also(fmt.Errorf("%w%s", err, kept), lost)
}

// also puts a second error, which may be nil, behind a first.
func also(err, more error) error {
	if more == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, more)
}

// nothingThrough says which tests measured nothing, and why if that is known:
// tests with one reason together.
func nothingThrough(tests []spec.Test, trials []result.Trial) error {
	var whys []string
	names := map[string][]string{}
	for _, t := range tests {
		why := whyNothing(t, trials)
		if names[why] == nil {
			whys = append(whys, why)
		}
		names[why] = append(names[why], t.Short())
	}
	clauses := make([]string, len(whys))
	for i, why := range whys {
		clauses[i] = fmt.Sprintf(why, strings.Join(names[why], ", "))
	}
	return errors.New(strings.Join(clauses, "; "))
}

// whyNothing is a sentence about the test, with a %s in its name's place.
func whyNothing(test spec.Test, trials []result.Trial) string {
	escape := func(s string) string { return strings.ReplaceAll(s, "%", "%%") }
	for _, t := range trials {
		if t.Test != test {
			continue
		}
		for _, w := range slices.Concat(t.Warnings, t.Local.Warnings) {
			switch w.Code {
			case run.CodeUnavailable:
				return "%s could not be measured: " + escape(w.Text+": "+w.Advice)
			case run.CodeMTU, run.CodeBlocked:
				return "nothing came through in %s: " + escape(w.Text+": "+w.Advice)
			case traffic.WarnUnfinished:
				return "not one message of %s ended within the window: measure for longer (--time)"
			}
		}
	}
	return "nothing came through in %s: look at the routes and firewalls of both ends"
}

// next is what can be done with a run that is kept.
func next(keep *keeper, storeFile string) string {
	if !keep.wanted {
		return "Not kept, as --no-store asks."
	}
	if !keep.kept() {
		return ""
	}
	name := keep.run.ID
	if keep.run.Label != "" {
		name = keep.run.Label
	}
	at := ""
	if storeFile != "" {
		at = " --store " + quoted(storeFile)
	}
	return fmt.Sprintf("Kept as run %s in %s. To compare it with another one: netdelta compare %s OTHER%s", keep.run.ID, keep.path, quoted(name), at)
}
