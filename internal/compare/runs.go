package compare

import (
	"errors"
	"fmt"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
	"netdelta/internal/stats"
)

// RunsOptions are what a comparison of separate runs is told beside the runs.
type RunsOptions struct {
	// Old and New are what the sides are called; where they are empty it is the
	// label, or the id where the labels don't tell the sides apart.
	Old, New string
	// Margin is the smallest relative change that matters: 0.02 is 2%, which
	// is also what 0 stands for.
	Margin   float64
	Warnings []result.Warning // about the comparison as a whole
	Command  string
	Version  string
}

const defaultMargin = 0.02

// ErrNothingInCommon says that no test was measured on both sides.
var ErrNothingInCommon = errors.New("nothing to compare")

// Runs compares separate runs: all trials of the old ones against all of the
// new ones, for each test and metric that both sides have. The runs of a side
// are repetitions of one variant.
//
// The shift is the Hodges-Lehmann estimate over all pairs of an old and a new
// trial, with the exact interval that inverts Mann and Whitney's U; p is U's,
// and is adjusted by Holm's method, over the rows that are shown and over the
// details apart. All of it takes trials as independent of each other. Drift between the runs and what
// differs from boot to boot are in the shift, and no arithmetic gets them out
// again: a warning always says so.
//
// Where all runs of both sides stand for boots, and each side has MinBoots boots
// or more, boots are compared and not trials: each boot's figure is the median
// over its trials, however many runs they are of, and the shift is the difference
// of the means over boots with the interval of Welch's t, which p is of too. What
// differs from boot to boot is then what the change is judged by.
//
// Tests are matched by name, parameters, warm-up and window, and by variant
// where a run has several. What only one side has is listed in a warning. It
// fails with ErrNothingInCommon if that is all, on a run that is given twice,
// and on a margin that is not one.
func Runs(old, new []Kept, opts RunsOptions) (Report, error) {
	if opts.Margin == 0 {
		opts.Margin = defaultMargin
	}
	if !(opts.Margin > 0 && opts.Margin < 1) {
		return Report{}, fmt.Errorf("compare: margin %v is out of range: above 0%% and below 100%%", opts.Margin)
	}
	a, b, err := newParties(old, new, &opts)
	if err != nil {
		return Report{}, fmt.Errorf("compare: %w", err)
	}
	if postedOnly(a, b) {
		return postedRuns(a, b, opts)
	}
	all := matches([2]*party{a, b})
	nameMatches(all)
	names := [2]string{a.name, b.name}
	lonely := unmatched(all, names)
	var both []*match
	for _, m := range all {
		if m.both() {
			both = append(both, m)
		}
	}
	if len(both) == 0 {
		return Report{}, fmt.Errorf("compare: %w: %s", ErrNothingInCommon, texts(append(methodsDiffer(a, b), lonely...)))
	}

	by, noBoots := bootsOf([2]*party{a, b})
	r := Report{
		Schema: Schema, Experiment: "compare", Pairing: Unpaired, MarginPct: percentOf(opts.Margin),
		Factors: []spec.Factor{{Name: wholeRun, Levels: []string{a.name, b.name}}},
		Effects: []Comparison{}, Command: opts.Command, Version: opts.Version,
	}
	if by != nil {
		r.Pairing, r.BootsA, r.BootsB = ByBoot, len(by[0]), len(by[1])
	}
	r.WarmupNS, r.WindowNS = timingOfAll(both)
	r.Sources = append(a.sources(), b.sources()...)
	common := commonTo(reportedOf(both, names), ofSides)
	var rows []*unpaired
	for _, m := range both {
		r.Trials += len(m.trials(0)) + len(m.trials(1))
		for _, d := range definitions(m.test, append(m.trials(0), m.trials(1)...)) {
			rows = append(rows, newUnpaired(m, d, names, opts.Margin, &common, by))
		}
	}
	r.Families = judgeUnpaired(rows)
	r.Comparisons = make([]Comparison, len(rows))
	for i, row := range rows {
		r.Comparisons[i] = row.Comparison
	}

	of := ofParties([2]*party{a, b})
	r.Stages, r.Streams = stages.Build(of, false), stages.Streams(of, false)
	r.setCounts(bundlesOf(both, names))

	if by != nil {
		r.warn(byBootsWarning(by, a, b))
	} else {
		r.warn(unpairedWarning(a, b))
	}
	r.warn(noBoots...)
	r.warn(opts.Warnings...)
	r.warnOfRuns(a, b)
	r.warn(methodsDiffer(a, b)...)
	r.warn(lonely...)
	r.warnOfTrials()
	r.compareEnvironments(a, b)
	r.warn(common.warnings...)
	return r, nil
}

// judgeUnpaired gives every row its p, its family's p and its verdict.
func judgeUnpaired(rows []*unpaired) Families {
	holm := func(of func(result.Rank) bool) (members int) {
		var family []*unpaired
		var p []float64
		for _, r := range rows {
			if of(r.Rank()) {
				family, p = append(family, r), append(p, value(r.P))
			}
			if of(r.Rank()) && r.P != nil {
				members++
			}
		}
		for i, adj := range stats.Holm(p) {
			family[i].PAdj = number(adj)
			family[i].judge(members)
		}
		return members
	}
	return Families{
		Main:   holm(func(k result.Rank) bool { return k != result.Detail }),
		Detail: holm(func(k result.Rank) bool { return k == result.Detail }),
	}
}

// timingOfAll is the timing that all matches share, 0 for what they don't.
func timingOfAll(all []*match) (warmup, window int64) {
	for _, m := range all {
		if !m.timing.planned || m.timing != all[0].timing {
			return 0, 0
		}
	}
	return int64(all[0].timing.warmup), int64(all[0].timing.window)
}

func reportedOf(all []*match, names [2]string) []reported {
	var trials []reported
	for _, m := range all {
		for side, name := range names {
			for _, c := range m.trials(side) {
				trials = append(trials, reported{m.test, name, c})
			}
		}
	}
	return trials
}

// sources lists a side's runs.
func (p *party) sources() []Source {
	var all []Source
	for _, k := range p.kept {
		all = append(all, Source{Side: p.letter, ID: k.ID, Label: k.Label, Target: k.Target, State: k.State,
			Start: k.Start.UTC().Truncate(time.Second), Trials: len(k.trials)})
	}
	return all
}
