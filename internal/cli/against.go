package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/store"
)

// againstFlags hold a run against others that are kept.
type againstFlags struct {
	ref, margin string
	gate        *gateFlags

	share float64
	with  side
}

func (a *againstFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&a.ref, "against", "", "compare the run with this one when it is over, and print that: @NAME, a label, an id or a file")
	fl.StringVar(&a.margin, "margin", "2%", "smallest change that matters, with --against")
	a.gate = addGate(fl)
}

// check reads the flags. It finds what to compare with before anything is
// measured, and that something of it can be compared.
func (a *againstFlags) check(ctx context.Context, file string, tests []spec.Test) error {
	if a.ref == "" {
		if a.gate.given() {
			return usageError("--fail-on and --bisect judge a comparison: give --against too")
		}
		return nil
	}
	var err error
	if a.share, err = parsePercent(a.margin); err != nil {
		return usageError("--margin: %w", err)
	}
	if err := a.gate.check(tests...); err != nil {
		return err
	}
	from := library{path: file}
	defer from.close()
	if a.with, err = from.find(ctx, a.ref); err != nil {
		return err
	}
	for _, k := range a.with.runs {
		// What this run measures has no variant, and is compared with such trials only.
		if slices.ContainsFunc(k.Trials, func(t result.Trial) bool { return len(t.Variant) == 0 && slices.Contains(tests, t.Test) }) {
			return nil
		}
		if k.Run.Plan != nil && !k.Run.Plan.Single() {
			return usageError("--against %s: run %s is of several variants, and a run is of none of them: name one of netdelta run", a.ref, k.Run.ID)
		}
	}
	return usageError("--against %s: none of the tests was measured there: give its tests and parameters with --tests", a.ref)
}

// compare prints the comparison with the run, and returns it; and in a text what
// can be done with the run.
func (a *againstFlags) compare(runs []compare.Kept, next string, output *outputFlags, stdout io.Writer) (*compare.Report, error) {
	rep, err := compare.Runs(a.with.runs, runs, compare.RunsOptions{
		Old: a.with.name, Margin: a.share, Warnings: a.with.damage,
		Command: "netdelta " + strings.Join(commandWords(os.Args[1:], 0, true), " "), Version: versionString(),
	})
	if err != nil {
		return nil, &exitError{ExitUnmeasured, fmt.Errorf("compare with %s: %w", a.ref, err)}
	}
	d := compare.Document{Report: &rep, Kept: slices.Concat(a.with.runs, runs)}
	return &rep, output.write(stdout, &d, report.Options{Next: next})
}

// codeSameBoot is the warning of a run that stands for a boot that has one.
const codeSameBoot = "same-boot"

// checkBoot says what a run that stands for its boot needs.
func (f *runFlags) checkBoot() error {
	switch {
	case strings.HasPrefix(f.label, store.BaselineMark):
		return usageError("label %q begins with %s, which stands before a baseline's name: leave it out", f.label, store.BaselineMark)
	case !f.boot:
	case f.label == "":
		return usageError("--boot needs --label, by which the boots of one kernel or build are found")
	case f.noStore:
		return usageError("--boot is for runs that are kept: leave out --no-store")
	}
	return nil
}

// errNoBoot says that an end does not tell its boot.
var errNoBoot = errors.New("--boot: an end does not tell which boot it is on, which only Linux does")

// warnOfBoot says at once that the run is of a boot that the label has already.
func (k *keeper) warnOfBoot(ctx context.Context, record *result.Run) error {
	boot := result.BootOf(record.Environments)
	if boot == "" {
		return errNoBoot
	}
	for _, other := range k.others(ctx, record.Label) {
		if other.PerBoot && result.BootOf(other.Environments) == boot {
			w := result.Warning{Code: codeSameBoot,
				Text:   fmt.Sprintf("run %s of the label %s is of this boot too: the two count as one boot", other.ID, record.Label),
				Advice: "boot again before the next run with --boot"}
			fmt.Fprintf(k.stderr, "netdelta: %s: %s\n", oneLine(w.Text), w.Advice)
			record.Warnings = append(record.Warnings, w)
			return nil
		}
	}
	return nil
}

// others are the runs of a label that are kept already.
func (k *keeper) others(ctx context.Context, label string) []result.Run {
	if k.store == nil {
		return nil
	}
	runs, err := k.store.Runs(ctx, store.Filter{Label: label})
	if err != nil {
		return nil // the store's failures are told where something is kept
	}
	return runs
}

// sideOfRun is what a run is compared as with other runs: by itself, or with the
// runs of its label that stand for boots if it does.
func (k *keeper) sideOfRun(ctx context.Context, with []compare.Kept) []compare.Kept {
	all := []compare.Kept{{Run: k.run, Trials: k.trials}}
	if !k.run.PerBoot {
		return all
	}
	for _, other := range k.others(ctx, k.run.Label) {
		against := func(of compare.Kept) bool { return of.Run.ID == other.ID }
		if other.ID == k.run.ID || !other.PerBoot || slices.ContainsFunc(with, against) {
			continue
		}
		if trials, _ := collect(ctx, k.store, other.ID); len(trials) > 0 {
			all = append(all, compare.Kept{Run: other, Trials: trials})
		}
	}
	return all
}
