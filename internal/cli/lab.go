package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/counters"
	"netdelta/internal/feature"
	"netdelta/internal/lab"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
	"netdelta/internal/store"
	"netdelta/internal/unit"
)

func newLab(args []string) *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "lab [EXPERIMENT]",
		Short: "Run an experiment on this machine alone",
		Long: `Makes two hosts in network namespaces and a link between them, runs every
variant of the experiment once in each block, in random order, and compares.
Nothing outside the namespaces is touched, and nothing is left behind. Without
EXPERIMENT it is rx-context; --list lists them all, and what each can vary.

Runs as root, or for an ordinary user inside a user namespace where the
kernel allows it (--link veth; ether needs /dev/net/tun).

Exit status 1 says that a check of the report failed, as one of truth's does
where the report has not found what the wire put in, or that a row is as
--fail-on has it. A check that could not be made fails nothing.`,
		Example: `  netdelta lab --list
  netdelta lab two-factor --list
  netdelta lab
  netdelta lab rx-context --levels softirq,kthread,uthread --blocks 12
  netdelta lab rx-context --tests icmp_echo --each=9 --beside none
  netdelta lab rx-context --tests "tcp_rr size=1..1MiB*4" --link veth
  netdelta lab two-factor --second link
  netdelta lab send-path --levels sendfile,read+write --levels rate=1Gbit/s,full
  netdelta lab tun-rx --levels backlog,inline,kthread --full
  netdelta lab mitigation --levels off,8/20us,8/40us,8/80us
  netdelta lab truth --levels none,delay-40us,loss-1/200
  netdelta lab rx-context --wire delay=200us,rate=1Gbit/s
  netdelta lab rx-context --levels softirq,softirq-again --format json`,
		RunE: func(cmd *cobra.Command, words []string) error {
			words = f.asked(cmd.Flags(), words)
			if len(words) > 1 {
				return usageError("lab takes one experiment, got %d: %s", len(words), strings.Join(words, " "))
			}
			if f.list && len(words) == 0 {
				return listExperiments(cmd.OutOrStdout())
			}
			name := "rx-context"
			if len(words) == 1 {
				name = words[0]
			}
			return runLab(cmd.Context(), name, &f, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func runLab(ctx context.Context, name string, f *labFlags, args []string, stdout, stderr io.Writer) error {
	if err := f.output.check(); err != nil {
		return err
	}
	if err := result.CheckLabel(f.label); err != nil {
		return &exitError{ExitUsage, err}
	}
	if f.store != "" && f.label == "" {
		return usageError("--store is where a run is kept that has a --label: give that too")
	}
	exp, err := lab.Find(name)
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	seeded := f.given["seed"]
	if !seeded {
		f.seed = uint64(rand.Uint32())
	}
	o, err := f.options()
	if err != nil {
		return &exitError{ExitUsage, err}
	}
	if f.list {
		return listExperiment(stdout, exp, o)
	}
	if o, err = exp.Complete(o); err != nil {
		return &exitError{ExitUsage, err}
	}
	plan, err := exp.Plan(o)
	if err != nil {
		return &exitError{ExitUsage, err}
	}

	if err := f.gate.check(plan.Tests...); err != nil {
		return err
	}
	if status, done, err := lab.InUserNamespace(args); err != nil {
		return &exitError{ExitUnmeasured, err}
	} else if done {
		return &exitError{status: status}
	}

	if err := lab.Check(plan, o); errors.Is(err, feature.ErrUnavailable) {
		return &exitError{ExitUnmeasured, err}
	} else if err != nil {
		return &exitError{ExitUsage, err}
	}
	recoverFirst(ctx, stderr)
	leftOut(stderr, exp, o)
	line := newProgress(stderr, exp.Name)
	keep := &keeper{stderr: stderr}
	if f.label != "" {
		if keep, err = openKeeper(ctx, f.store, stderr); err != nil {
			return err
		}
	}
	defer keep.close()
	facts := environment(plan, o)
	keep.begin(ctx, result.Run{
		ID: store.NewID(), Label: f.label, Experiment: exp.Name, Target: "lab", State: result.Running, Start: time.Now(), Plan: &plan,
		Version: versionString(), Command: "netdelta " + strings.Join(commandWords(args, f.seed, seeded), " "),
		Environments: []result.Environment{{End: result.Local, Facts: facts}, {End: result.Remote, Facts: facts}},
	})
	runErr := lab.Run(ctx, plan, o, lab.Watch{
		Sink:     func(t result.Trial) error { return keep.add(ctx, t) },
		Progress: line.show,
	})
	line.clear()
	keep.finish(ctx, stateAfter(runErr, len(keep.trials)), about(runErr))
	keep.rescue()
	trials := keep.trials

	if runErr != nil && ctx.Err() != nil && !errors.Is(runErr, run.ErrInterrupted) {
		// It came while the lab was still being made.
		runErr = fmt.Errorf("%w: %w", run.ErrInterrupted, runErr)
	}
	status, err := judge(runErr)
	if len(trials) == 0 && status == ExitInterrupted {
		return &exitError{status, errors.New("interrupted before the first trial was finished")}
	}
	if len(trials) == 0 && err != nil {
		return &exitError{status, err}
	}
	rep, buildErr := compare.Build(plan, trials, compare.Options{
		Partial:     runErr != nil,
		Environment: facts,
		Command:     keep.run.Command,
		Version:     keep.run.Version,
	})
	if buildErr != nil {
		return &exitError{ExitUnmeasured, errors.Join(err, buildErr)}
	}
	exp.Conclude(&plan, trials, &rep)
	rep.Brief = rep.Brief && !f.full
	keptAs := ""
	if keep.wanted && keep.kept() {
		keptAs = seeAgain(keep, f.store)
	}
	if err := f.output.write(stdout, documentOf(&rep, keep.run, trials), report.Options{Next: keptAs}); err != nil {
		return err
	}
	if status == ExitDone {
		if silent := rep.Unmeasured(); len(silent) > 0 {
			status, err = ExitUnmeasured, nothingThrough(silent, trials)
		}
	}
	if lost := keep.lost(); lost != nil && status == ExitDone {
		status, err = ExitUnmeasured, lost
	}
	if status != ExitDone {
		return &exitError{status, err}
	}
	if err := f.gate.judge(&rep); err != nil {
		return err
	}
	return judgeChecks(rep.Checks)
}

// leftOut tells of the levels that the experiment would have run and this system can't.
func leftOut(stderr io.Writer, exp lab.Experiment, o lab.Options) {
	varied, err := exp.Varies(o)
	if err != nil {
		return // and there is no plan either
	}
	for i, f := range varied {
		if _, chosen := o.Levels[f.Name]; chosen || i == 0 && o.Levels[""] != nil {
			continue
		}
		for _, m := range f.Missing {
			fmt.Fprintf(stderr, "netdelta: left out of %s: %s\n", f.Name, oneLine(m))
		}
	}
}

// judgeChecks is nil where no check failed, and else says which did. A check without
// a figure, or whose interval holds what would pass, has not failed.
func judgeChecks(checks []compare.Check) error {
	var failed []string
	for i := range checks {
		if checks[i].Failed() {
			failed = append(failed, checks[i].Name)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &exitError{ExitGate, fmt.Errorf("failed %d of %s: %s", len(failed), unit.Count(len(checks), "check"), firstOf(failed))}
}

// judge is the exit status that a run's error stands for, and what to say.
func judge(err error) (int, error) {
	switch {
	case err == nil:
		return ExitDone, nil
	case errors.Is(err, run.ErrInterrupted):
		return ExitInterrupted, errors.New("interrupted: the report has what was measured until then")
	}
	return ExitUnmeasured, err
}

// environment is the machine's facts and the lab's own, for the report's end.
func environment(plan spec.Plan, o lab.Options) []compare.Fact {
	return append(counters.Environment(), o.Facts(plan)...)
}

// commandWords is the command line with the seed that was drawn, so that the
// report says how to repeat it.
func commandWords(args []string, seed uint64, seeded bool) []string {
	words := make([]string, 0, len(args)+2)
	for _, a := range args {
		words = append(words, quoted(a))
	}
	if !seeded {
		words = append(words, "--seed", strconv.FormatUint(seed, 10))
	}
	return words
}

// quoted is a word that a shell reads as it is.
func quoted(a string) string {
	if strings.ContainsAny(a, " \t\"'$\\|&;<>(){}*?[]#~`!") || a == "" {
		return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return a
}
