// Package summary turns the trials of one run into a table of its figures: of
// each metric of each test the median over the trials, how sure it is, and how
// far the trials lie apart. It is pure.
package summary

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// Schema names the version of a report's JSON form.
const Schema = "netdelta.run-report/1"

// confidence is the level of every interval, where the trials allow it.
const confidence = 0.95

// Report is one run: what was measured, and how it went.
type Report struct {
	Schema string       `json:"schema"`
	ID     string       `json:"id"`
	Label  string       `json:"label,omitempty"`
	Target string       `json:"target,omitempty"`
	State  result.State `json:"state"`
	Start  time.Time    `json:"start"`
	End    time.Time    `json:"end,omitzero"`
	// Planned is how many trials were to be, 0 if the run has no plan; Trials
	// is how many there are.
	Planned int `json:"trials_planned,omitempty"`
	Trials  int `json:"trials"`
	// The plan's, 0 where the run has none.
	WarmupNS   int64  `json:"warmup_ns"`
	WindowNS   int64  `json:"window_ns"`
	IntervalNS int64  `json:"interval_ns"`
	Seed       uint64 `json:"seed"`
	// Figures has a row for each test and metric, in the order of the tables
	// of tests and metrics, whether it has figures or not; but none of what
	// hosts count only if they are asked to and can, where no trial tells of it.
	Figures []Figure `json:"figures"`
	// Stages say where the time of round trips goes that were watched.
	Stages []stages.Table `json:"stages,omitempty"`
	// Streams say where the data of streams waits whose queues were looked at.
	Streams  []stages.Stream  `json:"streams,omitempty"`
	Warnings []result.Warning `json:"warnings"`
	// Environments is what the two ends were when the run began.
	Environments []result.Environment `json:"environments,omitempty"`
	Command      string               `json:"command,omitempty"`
	Version      string               `json:"version,omitempty"`
}

// Figure is one metric of one test over the run's trials, in the metric's
// unit. What could not be measured is null.
type Figure struct {
	Test   string      `json:"test"`
	Params spec.Params `json:"params"`
	// Under is the variant, as in "rx=kthread"; empty where nothing varies.
	Under  string        `json:"under,omitempty"`
	Metric string        `json:"metric"`
	End    string        `json:"end"` // where it was taken
	Unit   unit.Unit     `json:"unit"`
	Better result.Better `json:"better"`
	// N is the trials that have the figure, Of all of this test.
	N  int `json:"n"`
	Of int `json:"of"`
	// Lo and Hi are the median's interval by exact order statistics;
	// Confidence is its level, which is below 0.95 with fewer than 6 trials
	// and 0 where there is no interval.
	Median     *float64 `json:"median"`
	Lo         *float64 `json:"lo"`
	Hi         *float64 `json:"hi"`
	Confidence float64  `json:"confidence"`
	Min        *float64 `json:"min"`
	Max        *float64 `json:"max"`
	// Held is what held throughput in nearly all trials; null where nothing
	// did, and for all metrics but goodput.
	Held *result.Held `json:"held,omitempty"`
	// Warnings are about this metric: why trials lack it, among others.
	Warnings []result.Warning `json:"warnings"`
}

// TestOf is the test that the figure is of.
func (f *Figure) TestOf() spec.Test { return spec.Test{Name: f.Test, Params: f.Params} }

// Rank says how far forward a report shows the figure.
func (f *Figure) Rank() result.Rank {
	d, ok := result.DefinitionOf(f.TestOf(), f.Metric, f.End)
	if !ok {
		return result.Detail
	}
	return d.Rank
}

// Build makes the report of a run from its trials, in whatever order they are.
// Of several attempts at one trial the last counts.
func Build(run result.Run, trials []result.Trial) Report {
	r := Report{
		Schema: Schema, ID: run.ID, Label: run.Label, Target: run.Target, State: run.State,
		Start: run.Start, End: run.End, Trials: len(trials),
		Figures: []Figure{}, Warnings: []result.Warning{},
		Environments: run.Environments, Command: run.Command, Version: run.Version,
	}
	if p := run.Plan; p != nil {
		r.Planned = p.Trials()
		r.WarmupNS, r.WindowNS, r.IntervalNS, r.Seed = int64(p.Warmup), int64(p.Window), int64(p.Interval), p.Seed
	}
	plain, _ := result.Unwatched(trials)
	groups := grouped(plain)
	of := watchedOf(trials)
	r.Stages, r.Streams = stages.Build(of, true), stages.Streams(of, true)
	for _, g := range groups {
		for _, d := range g.definitions() {
			r.Figures = append(r.Figures, g.figure(d))
		}
	}
	r.Warnings = append(r.Warnings, run.Warnings...)
	r.Warnings = append(r.Warnings, general(groups)...)
	return r
}

// group is the trials of one test under one variant.
type group struct {
	test   spec.Test
	under  string
	trials []trial
}

// trial is what one trial gives.
type trial struct {
	figures  map[result.Taken]float64
	told     map[result.Taken]bool   // figures, and those with a reason to lack
	held     map[string]*result.Held // of goodput, by the end that received
	warnings []result.Warning
	imported []result.Definition // of a trial that another program made
}

func grouped(trials []result.Trial) []*group {
	type place struct {
		block       int
		test, under string
	}
	last := map[place]int{}
	at := func(t *result.Trial) place { return place{t.Block, t.Test.String(), under(t.Variant)} }
	for i := range trials {
		last[at(&trials[i])] = max(last[at(&trials[i])], trials[i].Attempt)
	}
	var groups []*group
	for i := range trials {
		t := &trials[i]
		if t.Attempt < last[at(t)] {
			continue
		}
		key := under(t.Variant)
		j := slices.IndexFunc(groups, func(g *group) bool { return g.test == t.Test && g.under == key })
		if j < 0 {
			j = len(groups)
			groups = append(groups, &group{test: t.Test, under: key})
		}
		one := trial{figures: map[result.Taken]float64{}, warnings: t.AllWarnings(), held: map[string]*result.Held{
			result.Local: t.Held(result.Local), result.Remote: t.Held(result.Remote)}}
		for _, m := range t.Metrics() {
			one.figures[m.Taken()] = m.Value
		}
		groups[j].trials = append(groups[j].trials, one.tells(t))
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(
			cmp.Compare(rank(a.test), rank(b.test)),
			cmp.Compare(a.test.RequestSize(), b.test.RequestSize()),
			cmp.Compare(a.test.ResponseSize(), b.test.ResponseSize()),
			result.Natural(a.test.String(), b.test.String()),
			strings.Compare(a.under, b.under),
		)
	})
	return groups
}

// under writes a variant, factors in alphabetical order.
func under(v spec.Variant) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, name+"="+v[name])
	}
	return strings.Join(parts, " ")
}

// rank is the test's place in the table of tests.
func rank(t spec.Test) int {
	return slices.IndexFunc(spec.Kinds(), func(k spec.Kind) bool { return k.Name == t.Name })
}

func (g *group) figure(d result.Definition) Figure {
	f := Figure{
		Test: g.test.Name, Params: g.test.Params, Under: g.under,
		Metric: d.Name, End: d.End, Unit: d.Unit, Better: d.Better,
		Of: len(g.trials), Warnings: g.about(d.Taken()),
	}
	var values []float64
	for _, t := range g.trials {
		if v, ok := t.figures[d.Taken()]; ok {
			values = append(values, v)
		}
	}
	if f.N = len(values); f.N == 0 {
		return f
	}
	if d.Name == result.Goodput {
		var held []*result.Held
		for _, t := range g.trials {
			held = append(held, t.held[d.End])
		}
		f.Held = result.HeldIn(held)
	}
	m := stats.MedianInterval(values, confidence)
	f.Median, f.Min, f.Max = number(m.Est), number(slices.Min(values)), number(slices.Max(values))
	if f.Confidence = m.Level; m.Level > 0 {
		f.Lo, f.Hi = number(m.Lo), number(m.Hi)
	}
	return f
}

// number makes a nullable number; null for what JSON does not have.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Unmeasured is the tests of which no trial has the figure that stands for
// them: nothing came through.
func (r *Report) Unmeasured() []spec.Test {
	var tests []spec.Test
	for i := range r.Figures {
		f := &r.Figures[i]
		if t := f.TestOf(); f.Rank() == result.Headline && f.nothing() && !slices.Contains(tests, t) {
			tests = append(tests, t)
		}
	}
	return tests
}

// nothing says that no trial measured more than zero.
func (f *Figure) nothing() bool { return f.N == 0 || f.Max != nil && *f.Max == 0 }
