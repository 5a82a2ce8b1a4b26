package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/findings"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Experiment is one row: a question, what is varied to answer it, and what is told
// of the outcome.
type Experiment struct {
	Name     string
	Question string
	// Page is the file in docs/ that explains it.
	Page string
	// Links are those that it can run on, the usual one first.
	Links []string
	// Tests and Beside are lists of tests as spec.ParseTests reads them.
	Tests, Beside string
	// Metrics are those that matter; nil for those of every report.
	Metrics []string
	Blocks  int
	Window  time.Duration
	// Soak, Offload and Wire are the lab's, where no factor says otherwise.
	Soak, Offload bool
	Wire          spec.Wire
	// Bound says that what handles received frames is bound to a CPU: the wire's
	// threads, the kernel's handler threads, and what is steered.
	Bound bool
	// Brief says that its own sections stand for the tables of all rows in a text.
	Brief bool
	// factors are what it varies on a link of that kind, the main one first.
	factors func(link string) []factor
	finders []findings.Finder
}

// factor is what an experiment varies.
type factor struct {
	name, about string
	// condition is as spec.Factor has it.
	condition bool
	// usual are the levels that run unless others are asked for, the baseline first.
	usual []string
	// valid are the levels that there are, and form is how others are written where
	// any can be made up ("DURATION"); one of the two is empty.
	valid []string
	form  string
	// settings are what a level sets; an error says what levels there are.
	settings func(level string) ([]spec.Setting, error)
}

// experiments is the table.
var experiments = []Experiment{rxContext}

// Experiments returns the table of experiments.
func Experiments() []Experiment { return slices.Clone(experiments) }

// Find returns the named experiment, or an error that names the valid ones.
func Find(name string) (Experiment, error) {
	names := make([]string, len(experiments))
	for i, e := range experiments {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return Experiment{}, fmt.Errorf("unknown experiment %q: valid are %s", name, strings.Join(names, ", "))
}

// Complete fills in what the options leave to the experiment.
func (e Experiment) Complete(o Options) (Options, error) {
	if o.Link == "" {
		o.Link = e.Links[0]
	}
	if !slices.Contains(e.Links, o.Link) {
		return o, fmt.Errorf("unknown link %q of %s: valid are %s", o.Link, e.Name, strings.Join(e.Links, ", "))
	}
	var err error
	if o.Tests == nil {
		if o.Tests, err = spec.ParseTests(e.Tests, o.Sizes); err != nil {
			return o, err
		}
	}
	if o.Beside == nil && e.Beside != "" {
		if o.Beside, err = spec.ParseTests(e.Beside, nil); err != nil {
			return o, err
		}
	}
	if o.Blocks == 0 {
		o.Blocks = e.Blocks
	}
	if o.Window == 0 {
		o.Window = e.Window
	}
	if o.Warmup < 0 {
		o.Warmup = min(o.Window/4, 100*time.Millisecond)
	}
	if o.Wire.Plain() {
		o.Wire = e.Wire
	}
	o.Soak = o.Soak || e.Soak
	o.Offload = o.Offload || e.Offload
	o.bound = e.Bound
	return o, nil
}

// Plan returns the validated plan of the experiment under options that are
// complete.
func (e Experiment) Plan(o Options) (spec.Plan, error) {
	p := spec.Plan{
		Experiment: e.Name, Question: e.Question, Baseline: spec.Variant{},
		Tests: o.Tests, Beside: o.Beside, Each: o.Each, Metrics: e.Metrics,
		Blocks: o.Blocks, Warmup: o.Warmup, Window: o.Window, Seed: o.Seed, Margin: o.Margin,
		Counters: o.Counters, Soak: o.Soak,
	}
	all := e.factors(o.Link)
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.name
	}
	for _, given := range []map[string]bool{keys(o.Levels), keys(o.Baseline)} {
		for name := range given {
			if name != "" && !slices.Contains(names, name) {
				return p, fmt.Errorf("%s has no factor %q: valid are %s", e.Name, name, strings.Join(names, ", "))
			}
		}
	}
	for i, f := range all {
		one, baseline, err := f.chosen(named(o.Levels, f.name, i), named(o.Baseline, f.name, i))
		if err != nil {
			return p, err
		}
		p.Factors = append(p.Factors, one)
		p.Baseline[f.name] = baseline
	}
	return p, p.Validate()
}

// keys are the names in a map.
func keys[T any](m map[string]T) map[string]bool {
	all := map[string]bool{}
	for k := range m {
		all[k] = true
	}
	return all
}

// named is what is given for the ith factor: by its name, or without one for the
// first.
func named[T any](given map[string]T, name string, i int) T {
	v, ok := given[name]
	if !ok && i == 0 {
		v = given[""]
	}
	return v
}

// chosen is the factor with the levels that are asked for.
func (f *factor) chosen(levels []string, baseline string) (spec.Factor, string, error) {
	usual := f.usual[0]
	if len(levels) == 0 {
		levels = f.usual
	}
	one := spec.Factor{Name: f.name, Levels: levels, Condition: f.condition, Settings: map[string][]spec.Setting{}}
	for _, l := range levels {
		base := spec.BaseLevel(l)
		if f.valid != nil && !slices.Contains(f.valid, base) {
			return one, "", fmt.Errorf("unknown level %q of %s: valid are %s (and NAME%s, to compare one with itself)",
				l, f.name, strings.Join(f.valid, ", "), spec.Again)
		}
		settings, err := f.settings(base)
		if err != nil {
			return one, "", fmt.Errorf("level %q of %s: %w", l, f.name, err)
		}
		one.Settings[l] = settings
	}
	switch {
	case baseline == "" && slices.Contains(levels, usual):
		baseline = usual
	case baseline == "":
		baseline = levels[0]
	}
	return one, baseline, nil
}

// Conclude adds the experiment's own findings to the report of its plan.
func (e Experiment) Conclude(p *spec.Plan, trials []result.Trial, r *compare.Report) {
	r.Brief = e.Brief
	for _, find := range e.finders {
		find(&findings.Input{Plan: p, Trials: trials, Report: r})
	}
}
