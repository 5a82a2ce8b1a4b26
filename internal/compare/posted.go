package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// PostedVariant is one of the variants that other programs' figures are of.
type PostedVariant struct {
	// Name is what reports call it where no factors are given.
	Name string
	// Levels has a level of each factor that is given; nil where none is.
	Levels spec.Variant
	// Kept are its repetitions: trials that package interop's readers made.
	Kept []Kept
}

// PostedOptions are what a comparison of posted figures is told beside them.
type PostedOptions struct {
	// Factors are what varies, each level that is the baseline first; nil where the
	// variants have names only, and then the first of them is the baseline.
	Factors []spec.Factor
	Title   string
	Claims  []Claim
	// Margin is the smallest relative change that matters; 0 stands for 2%.
	Margin   float64
	Warnings []result.Warning // about the comparison as a whole
	Command  string
	Version  string
}

// maxPosted is the most variants of one comparison.
const maxPosted = 200

// Posted compares what other programs printed, or people posted, of two variants or
// more: each with the first, or, where several factors are given, each level with
// its factor's first within every combination of the others' levels.
//
// Where a variant has one run, there is a change, and neither an interval nor a p
// nor a verdict: no arithmetic makes two figures tell how a third would have been.
// With several runs each it is as Runs has it. Single values within a figure, such
// as a ping's round trips, are told apart in Comparison.Single: they are of one run.
//
// It fails with ErrNothingInCommon if no two variants have a figure in common.
func Posted(variants []PostedVariant, opts PostedOptions) (Report, error) {
	fail := func(format string, args ...any) (Report, error) {
		return Report{}, fmt.Errorf("compare: "+format, args...)
	}
	if opts.Margin == 0 {
		opts.Margin = defaultMargin
	}
	switch {
	case !(opts.Margin > 0 && opts.Margin < 1):
		return fail("margin %v is out of range: above 0%% and below 100%%", opts.Margin)
	case len(variants) < 2:
		return fail("%s: two or more are needed", unit.Count(len(variants), "variant"))
	case len(variants) > maxPosted:
		return fail("%d variants are more than %d", len(variants), maxPosted)
	}
	factors, levels, err := postedFactors(variants, opts.Factors)
	if err != nil {
		return fail("%w", err)
	}
	parties, err := postedParties(variants, factors, levels)
	if err != nil {
		return fail("%w", err)
	}
	pairs := postedPairs(parties, levels, factors)
	p := &posted{opts: opts, parties: parties, levels: levels, factors: factors}
	return p.report(pairs)
}

// postedRuns is the comparison of two sides that have imports only.
func postedRuns(a, b *party, opts RunsOptions) (Report, error) {
	p := &posted{
		opts:    PostedOptions{Margin: opts.Margin, Warnings: opts.Warnings, Command: opts.Command, Version: opts.Version},
		parties: []*party{a, b}, levels: []spec.Variant{{wholeRun: a.name}, {wholeRun: b.name}},
		factors: []spec.Factor{{Name: wholeRun, Levels: []string{a.name, b.name}}},
	}
	return p.report([]postedPair{{0, 1, wholeRun, a.name, b.name, ""}})
}

// posted is a comparison of posted figures in the making.
type posted struct {
	opts    PostedOptions
	parties []*party
	levels  []spec.Variant
	factors []spec.Factor
}

func (p *posted) report(pairs []postedPair) (Report, error) {
	r := Report{
		Schema: Schema, Experiment: "compare", Question: p.opts.Title, Pairing: Unpaired, Posted: true,
		MarginPct: percentOf(p.opts.Margin), Variants: len(p.parties), Factors: p.factors,
		Comparisons: []Comparison{}, Effects: []Comparison{}, Counts: []Count{}, Losses: []Loss{}, EnvironmentDiff: []FactChange{},
		Command: p.opts.Command, Version: p.opts.Version,
	}
	r.Sources = p.sources()
	for _, x := range p.parties {
		r.Trials += x.trials()
	}
	var rows []*unpaired
	var lonely, hazards []result.Warning
	for _, pair := range pairs {
		of := p.compare(pair)
		rows = append(rows, of.rows...)
		lonely, hazards = append(lonely, of.lonely...), append(hazards, of.hazards...)
		r.EnvironmentDiff = append(r.EnvironmentDiff, of.changes...)
		r.Findings = append(r.Findings, of.findings...)
	}
	lonely = append(p.withoutTrials(), lonely...)
	if len(rows) == 0 {
		if len(lonely) == 0 {
			lonely = []result.Warning{{Text: "no two variants differ in one factor only"}}
		}
		return Report{}, fmt.Errorf("compare: %w: %s", ErrNothingInCommon, texts(eachOnce(lonely)))
	}
	r.Families = judgeUnpaired(rows)
	one := true
	for _, row := range rows {
		one = one && row.NA <= 1 && row.NB <= 1
		r.Comparisons = append(r.Comparisons, row.Comparison)
	}
	p.interactions(&r)
	r.Checks = p.checks()
	if one {
		r.Families = Families{}
		r.warn(oneRun)
	} else {
		r.warn(severalRuns)
		r.warnOfTrials()
	}
	r.warn(eachOnce(hazards)...)
	r.warn(p.opts.Warnings...)
	for _, x := range p.parties {
		for _, k := range x.kept {
			r.warn(k.Warnings...)
			if why := unfinished[k.State]; why != "" {
				r.Partial = true
				r.warn(result.Warning{Code: "partial", Text: fmt.Sprintf("%s %s, with %s", x.name, why, unit.Count(len(k.trials), "trial"))})
			}
		}
	}
	r.warn(eachOnce(lonely)...)
	return r, nil
}

// oneRun says once what a comparison of one run each can't say.
var oneRun = result.Warning{Code: "one-run",
	Text:   "one run of each: how far a second run of the same variant would have been off is not known, so no change has an interval or a verdict, and drift between the runs is in every one",
	Advice: "give several runs of each, as lists of files, or alternate the variants in one run (netdelta ab)"}

var severalRuns = result.Warning{Code: "unpaired",
	Text:   "these are separate runs of which the order is not known, so drift of the machines between them is inside every change",
	Advice: "alternate the variants in one run (netdelta ab)"}

// eachOnce leaves out what was said before.
func eachOnce(warnings []result.Warning) []result.Warning {
	var all []result.Warning
	for _, w := range warnings {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// withoutTrials are the variants of which nothing was understood.
func (p *posted) withoutTrials() []result.Warning {
	var all []result.Warning
	for _, x := range p.parties {
		if x.trials() > 0 {
			continue
		}
		var why []string
		for _, k := range x.kept {
			for _, w := range k.Warnings {
				why = append(why, w.Text)
			}
		}
		text := x.name + " has no data"
		if len(why) > 0 {
			text += ": " + strings.Join(why, "; ")
		}
		all = append(all, result.Warning{Code: "no-data", Text: text})
	}
	return all
}

// sources lists all runs, each once.
func (p *posted) sources() []Source {
	var all []Source
	for _, x := range p.parties {
		for i, s := range x.sources() {
			if n := slices.IndexFunc(all, func(o Source) bool { return o.ID == s.ID }); n >= 0 {
				all[n].Trials += s.Trials
				continue
			}
			if k := x.kept[i]; len(k.trials) > 0 && k.trials[0].Imported != nil {
				s.File = k.trials[0].Imported.Source
			}
			all = append(all, s)
		}
	}
	return all
}

var errFactors = errors.New("the factors and the variants' levels don't fit")
