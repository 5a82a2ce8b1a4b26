package compare

import (
	"fmt"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
	"netdelta/internal/stats"
)

// Options are what a report tells beside the comparisons.
type Options struct {
	// Partial says that the run ended early; a missing trial says so too.
	Partial bool
	// Ended is EndedPrecision or EndedTime where that ended the run in good order
	// before all blocks were run: the blocks after the last are not missing then.
	Ended string
	// Warnings are about the run as a whole.
	Warnings    []result.Warning
	Environment []Fact
	Command     string
	Version     string
}

// Build compares the plan's trials: each level of a factor with the baseline,
// for each test and metric, paired by block.
//
// The shift is the Hodges-Lehmann estimate over the blocks' differences, of
// logarithms for figures that are always positive and of the figures
// themselves for those that can be zero, with its exact signed-rank interval.
// The rows of the report that are shown are one family for the adjusted p, by
// step-down max-T over sign flips of whole blocks, and its details are another.
// A block that is incomplete for a row is left out of that row.
//
// Where the plan has conditions, levels are compared within each combination of
// theirs, which a row's Under names, and the rows of all of them are in one pair of
// families: a flip turns a block in all of them.
//
// It fails on a plan that is not valid and on trials that are not the plan's.
// Missing trials are no error: their rows say what they rest on. Trials of the
// plan's tests beside are in no comparison.
func Build(plan spec.Plan, trials []result.Trial, opts Options) (Report, error) {
	plan.Tests, plan.Beside = slices.Clone(plan.Tests), slices.Clone(plan.Beside) // Validate fills in defaults
	watched, all := plan, trials
	plan = plan.WithoutWatched()
	trials, _ = result.Unwatched(trials)
	if err := plan.Validate(); err != nil {
		return Report{}, fmt.Errorf("compare: %w", err)
	}
	if err := CheckMetrics(&plan); err != nil {
		return Report{}, fmt.Errorf("compare: %w", err)
	}
	own, beside := apart(&plan, trials)
	g, err := newGrid(&plan, own)
	if err != nil {
		return Report{}, fmt.Errorf("compare: %w", err)
	}
	r := Report{
		Schema: Schema, Experiment: plan.Experiment, Question: plan.Question, Pairing: ByBlock, Seed: plan.Seed,
		Blocks: g.complete, Planned: plan.Blocks,
		Partial:  opts.Partial || g.trials < g.expected(opts.Ended),
		WarmupNS: int64(plan.Warmup), WindowNS: int64(plan.Window), MarginPct: percentOf(plan.Margin), PrecisionPct: percentOf(plan.Precision),
		Factors: plan.Factors, Variants: len(g.variants), Trials: g.trials,
		Environment: opts.Environment, Command: opts.Command, Version: opts.Version,
	}
	// The parts differ in their trials alone, and so not in what can be asked.
	parts := g.within()
	mains, pairs, aliases, untold := effectsOf(parts[0].plan, parts[0].variants)
	main, both := rowsWithin(parts, mains), rowsWithin(parts, pairs)
	r.Families = judgeFamilies(slices.Concat(main, both), plan.Seed, g.level())
	r.Comparisons, r.Effects, r.Aliases = comparisons(main), comparisons(both), aliases
	var bundles []bundle
	for _, p := range parts {
		r.Simple, r.Cells, bundles = append(r.Simple, p.simple(both)...), append(r.Cells, p.cellsOf()...), append(bundles, p.bundles()...)
	}
	r.Drift = drifts(parts, plan.Seed)
	r.setCounts(bundles)
	r.warn(opts.Warnings...)
	r.warnOfBlocks()
	r.setPrecision(g, main, opts.Ended)
	r.warn(untold...)
	if w := g.carryOver(parts); w != nil {
		r.warn(*w)
	}
	r.warnOfDrift()
	r.warn(g.common.warnings...)
	of := ofPlan(&watched, all)
	r.Stages, r.Streams = stages.Build(of, true), stages.Streams(of, true)
	r.Each = eachOf(&plan, trials)
	figures, odd := besideOf(&plan, beside)
	r.Beside = figures
	r.warn(odd...)
	return r, nil
}

// rows makes a row for each contrast, test and metric that any trial of the test
// tells of, in that order.
func (g *grid) rows(contrasts []contrast) []*row {
	var all []*row
	present := make([][]result.Definition, len(g.plan.Tests))
	for t := range g.plan.Tests {
		present[t] = g.definitions(t)
	}
	for _, c := range contrasts {
		for t := range g.plan.Tests {
			for _, d := range present[t] {
				r := g.row(t, d, c)
				all = append(all, &r)
			}
		}
	}
	return all
}

// judgeFamilies judges the rows that a report shows and concludes on, and apart
// from them its details, which would only cost the others power.
func judgeFamilies(rows []*row, seed uint64, level float64) Families {
	var main, detail []*row
	for _, r := range rows {
		if r.Rank() == result.Detail {
			detail = append(detail, r)
		} else {
			main = append(main, r)
		}
	}
	return Families{Main: judgeFamily(main, seed, level), Detail: judgeFamily(detail, seed, level)}
}

// judgeFamily gives every row of a family its p, the family's p and its verdict,
// and returns how many rows have figures for that. level is the chance of a false
// alarm in the family.
func judgeFamily(family []*row, seed uint64, level float64) (members int) {
	differences := make([][]float64, len(family))
	for i, r := range family {
		differences[i] = r.differences
		if r.DeltaPct != nil || r.Delta != nil {
			members++
		}
	}
	p, adj := stats.SignFlip(differences, seed)
	for i, r := range family {
		r.P, r.PAdj = number(p[i]), number(adj[i])
		r.judge(members, level)
	}
	return members
}

func comparisons(rows []*row) []Comparison {
	all := make([]Comparison, len(rows))
	for i, r := range rows {
		all[i] = r.Comparison
	}
	return all
}
