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
	// Soak, Offload, Context, Classify and Awake are the lab's, where no factor says
	// otherwise. An empty Context is the link's usual one.
	Soak, Offload bool
	Context       string
	Classify      bool
	Awake         bool
	// Bound says that what handles received frames is bound to a CPU: the wire's
	// threads, the kernel's handler threads, and what is steered.
	Bound bool
	// Brief says that its own sections stand for the tables of all rows in a text.
	Brief bool
	// Seconds are the second factors that it can have, the usual one first; nil for
	// an experiment whose factors are fixed.
	Seconds []string
	// factors are what it varies, the main one first, under options whose link and
	// second factor are given. Some of them depend on this machine's CPUs.
	factors func(Options) ([]factor, error)
	finders []findings.Finder
}

// factor is what an experiment varies.
type factor struct {
	name, about string
	// on says in messages what its levels are those of, if not of every link.
	on string
	// condition is as spec.Factor has it.
	condition bool
	// usual are the levels that run unless others are asked for, the baseline first.
	usual []string
	// missing are levels that would be usual if this system had what they need, each
	// with what that is.
	missing []string
	// valid are the levels that there are, and forms is how they are written where any
	// can be made up ("delay-TIME"); one of the two is empty.
	valid, forms []string
	// settings are what a level sets; an error says what levels there are.
	settings func(level string) ([]spec.Setting, error)
}

// experiments is the table.
var experiments = []Experiment{rxContext, twoFactor, sendPath, tunRx, mitigation, truth}

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
	link := o.Link
	o, err := e.placed(o)
	if err != nil {
		return o, err
	}
	if o.Second == secondLink && link != "" {
		return o, fmt.Errorf("link %s is given, and %s varies that itself: leave it out, or choose --levels of %s", link, e.Name, secondLink)
	}
	if o.Tests == nil {
		if o.Tests, err = e.tests(o.Sizes); err != nil {
			return o, err
		}
	}
	if o.Beside == nil && e.Beside != "" {
		if o.Beside, err = spec.ParseTests(e.Beside, nil); err != nil {
			return o, err
		}
		if o.Awake || e.Awake {
			o.Beside = keptAwake(o.Beside)
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
	if o.Context == "" && o.Link == e.Links[0] {
		o.Context = e.Context
	}
	o.Soak = o.Soak || e.Soak
	o.Awake = o.Awake || e.Awake
	o.Offload = o.Offload || e.Offload
	o.Classify = o.Classify || e.Classify
	o.bound = e.Bound
	return o, nil
}

// keptAwake are tests beside on CPUs that are all kept from sleeping: what would be
// idle is not.
func keptAwake(beside []spec.Test) []spec.Test {
	var all []spec.Test
	for _, t := range beside {
		if t.Params.Busy == "" {
			t.Params.Busy = spec.WakeAwake
		}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// placed is the options with the link and the second factor that the experiment's
// factors follow from.
func (e Experiment) placed(o Options) (Options, error) {
	if o.Link == "" {
		o.Link = e.Links[0]
	}
	if !slices.Contains(e.Links, o.Link) {
		return o, fmt.Errorf("unknown link %q of %s: valid are %s", o.Link, e.Name, strings.Join(e.Links, ", "))
	}
	switch {
	case e.Seconds == nil && o.Second != "":
		return o, fmt.Errorf("%s has no second factor to choose: %s has", e.Name, strings.Join(withSeconds(), ", "))
	case e.Seconds != nil && o.Second == "":
		o.Second = e.Seconds[0]
	case e.Seconds != nil && !slices.Contains(e.Seconds, o.Second):
		return o, fmt.Errorf("unknown second factor %q of %s: valid are %s", o.Second, e.Name, strings.Join(e.Seconds, ", "))
	}
	return o, nil
}

// withSeconds are the experiments whose second factor can be chosen.
func withSeconds() []string {
	var names []string
	for _, e := range experiments {
		if e.Seconds != nil {
			names = append(names, e.Name)
		}
	}
	return names
}

// tests are the experiment's own, those that name no size with the sizes given.
func (e Experiment) tests(sizes []int) ([]spec.Test, error) {
	own, err := spec.ParseTests(e.Tests, nil)
	if err != nil || len(sizes) == 0 {
		return own, err
	}
	sized, err := spec.ParseTests(e.Tests, sizes)
	if err == nil && slices.Equal(own, sized) {
		err = fmt.Errorf("the tests of %s have sizes of their own: name other tests to run other sizes", e.Name)
	}
	return sized, err
}

// Plan returns the validated plan of the experiment under options that are
// complete.
func (e Experiment) Plan(o Options) (spec.Plan, error) {
	p := spec.Plan{
		Experiment: e.Name, Question: e.Question, Baseline: spec.Variant{},
		Tests: o.Tests, Beside: o.Beside, Each: o.Each, Explain: o.Explain, Metrics: e.Metrics,
		Blocks: o.Blocks, Warmup: o.Warmup, Window: o.Window, Seed: o.Seed, Margin: o.Margin,
		Counters: o.Counters, Soak: o.Soak,
	}
	o, err := e.placed(o)
	if err != nil {
		return p, err
	}
	all, err := e.factors(o)
	if err != nil {
		return p, err
	}
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
		if given[""] && given[names[0]] {
			return p, fmt.Errorf("%s is given twice: what names no factor is of %s, the first one", names[0], names[0])
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
	p.Metrics = measured(e.Metrics, p.Tests)
	if err := o.clashes(e.Name, p.Factors); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// measured are those of the metrics that any of the tests has; nil, for the usual
// ones, if none has any.
func measured(metrics []string, tests []spec.Test) []string {
	var all []string
	for _, m := range metrics {
		if slices.ContainsFunc(tests, func(t spec.Test) bool { return slices.Contains(result.MetricNames(t.Name), m) }) {
			all = append(all, m)
		}
	}
	return all
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

// Conclude adds the experiment's own findings to the report of its plan.
func (e Experiment) Conclude(p *spec.Plan, trials []result.Trial, r *compare.Report) {
	r.Brief = e.Brief
	plain := p.WithoutWatched()
	trials, _ = result.Unwatched(trials)
	in := findings.Input{Plan: &plain, Trials: trials, Report: r}
	for _, find := range e.finders {
		find(&in)
	}
}
