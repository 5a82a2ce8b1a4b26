package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/findings"
	"netdelta/internal/lab"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/summary"
)

// conclude prints what the trials bear, and says how it ended.
func (f *abFlags) conclude(ctx context.Context, e *experiment, runErr error, keep *keeper, stdout io.Writer) error {
	if runErr != nil && ctx.Err() != nil && !errors.Is(runErr, run.ErrInterrupted) {
		runErr = fmt.Errorf("%w: %w", run.ErrInterrupted, runErr)
	}
	if keep.run.ID == "" { // nothing was begun
		if known := (*exitError)(nil); errors.As(runErr, &known) {
			return known
		}
		status, err := judgeRun(runErr, keep, f.wait)
		return &exitError{status, err}
	}
	keep.rescue()
	var rep compare.Report
	if len(keep.trials) > 0 {
		var err error
		if rep, err = comparison(keep.run, keep.trials); err != nil {
			return &exitError{ExitUnmeasured, also(err, runErr)}
		}
		if err := f.output.write(stdout, documentOf(&rep, keep.run, keep.trials), report.Options{}); err != nil {
			return err
		}
		if f.output.text() {
			if err := printed(fmt.Fprintf(stdout, "%s", f.afterword(e, keep))); err != nil {
				return err
			}
		}
	}
	status, err := judgeRun(runErr, keep, f.wait)
	if status == ExitDone {
		if silent := rep.Unmeasured(); len(silent) > 0 {
			status, err = ExitUnmeasured, nothingThrough(silent, keep.trials)
		}
	}
	if status != ExitDone {
		return &exitError{status, err}
	}
	return f.gate.judge(&rep)
}

// afterword tells what can be done with a run that is kept.
func (f *abFlags) afterword(e *experiment, keep *keeper) string {
	if !keep.wanted || !keep.kept() {
		return ""
	}
	text := seeAgain(keep, f.store) + "\n"
	if keep.run.State == result.Partial {
		text += fmt.Sprintf("To go on with it: netdelta %s\n", strings.Join(resumeWords(e.words, keep.run.ID), " "))
	}
	return text
}

// seeAgain says where a run is kept, and how to look at it again.
func seeAgain(keep *keeper, storeFile string) string {
	name, at := keep.run.ID, ""
	if keep.run.Label != "" {
		name = keep.run.Label
	}
	if storeFile != "" {
		at = " --store " + quoted(storeFile)
	}
	return fmt.Sprintf("Kept as run %s in %s; to see it again: netdelta show %s%s", keep.run.ID, keep.path, quoted(name), at)
}

// enough asks whether what is kept so far has the plan's precision; nil where the
// plan asks for none.
func enough(plan *spec.Plan, keep *keeper) func(int) bool {
	if plan.Precision == 0 {
		return nil
	}
	next := 0
	return func(blocks int) bool {
		if blocks < next {
			return false
		}
		p, err := compare.PrecisionOf(*plan, keep.trials)
		if err != nil {
			return false // the report will say what is wrong
		}
		next = p.Next
		return p.Reached
	}
}

// documentOf is a comparison of one run's trials with the run.
func documentOf(rep *compare.Report, of result.Run, trials []result.Trial) *compare.Document {
	return &compare.Document{Report: rep, Kept: []compare.Kept{{Run: of, Trials: trials}}}
}

func documentOfSingle(r result.Run, trials []result.Trial) *compare.Document {
	rep := summary.Build(r, trials)
	return &compare.Document{Summary: &rep, Kept: []compare.Kept{{Run: r, Trials: trials}}}
}

// documentOfKept is the report of one run, whatever it is of.
func documentOfKept(k compare.Kept) (*compare.Document, error) {
	if k.Run.Plan != nil && !k.Run.Plan.Single() {
		rep, err := comparison(k.Run, k.Trials)
		return documentOf(&rep, k.Run, k.Trials), err
	}
	return documentOfSingle(k.Run, k.Trials), nil
}

// comparison is the report of a run with something that varies.
func comparison(of result.Run, trials []result.Trial) (compare.Report, error) {
	rep, err := compare.Build(*of.Plan, trials, compare.Options{
		Partial: of.State != result.Complete, Ended: ended(of, trials),
		Warnings: of.Warnings, Environment: compare.FactsOf(of.Environments),
		Command: of.Command, Version: of.Version,
	})
	if err != nil {
		return rep, err
	}
	if exp, known := labExperiment(&of); known {
		exp.Conclude(of.Plan, trials, &rep)
	} else {
		// Whatever varies, TCP may follow the round trip.
		plan := of.Plan.WithoutWatched()
		plain, _ := result.Unwatched(trials)
		findings.Window(&findings.Input{Plan: &plan, Trials: plain, Report: &rep})
	}
	return rep, err
}

// labExperiment is the experiment of netdelta lab that a run is of.
func labExperiment(of *result.Run) (lab.Experiment, bool) {
	if !strings.HasPrefix(of.Command, "netdelta lab") {
		return lab.Experiment{}, false
	}
	exp, err := lab.Find(of.Experiment)
	return exp, err == nil
}

// ended is what ended a run in good order before its last block; empty where
// nothing did. It shows in the trials.
func ended(of result.Run, trials []result.Trial) string {
	plan := of.Plan
	if of.State != result.Complete || len(trials) >= plan.Trials() {
		return ""
	}
	if plan.Precision > 0 {
		if p, err := compare.PrecisionOf(*plan, trials); err == nil && p.Reached {
			return compare.EndedPrecision
		}
	}
	if plan.Limit > 0 {
		return compare.EndedTime
	}
	return ""
}
