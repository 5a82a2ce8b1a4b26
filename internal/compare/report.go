// Package compare turns trials into a table of comparisons with verdicts. It
// is pure: it sees results and plans, never how they were measured.
package compare

import (
	"math"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stages"
	"netdelta/internal/unit"
)

// Schema names the version of the report's JSON form. The fields that the
// documentation lists are stable within one version.
const Schema = "netdelta.report/1"

// Verdict is what a comparison says.
type Verdict string

const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	Same   Verdict = "same"
	Unsure Verdict = "unsure"
)

// Scale says how a difference is expressed.
type Scale = result.Scale

const (
	// Percent is the relative change of positive figures.
	Percent = result.Percent
	// Difference is B - A in the metric's unit, for figures that can be zero.
	Difference = result.Difference
)

// Pairing says what a comparison holds against what.
type Pairing string

const (
	// ByBlock is within blocks, each of which has both sides close in time.
	ByBlock Pairing = "blocks"
	// Unpaired is between separate runs: all trials of one side against all of
	// the other, with whatever drifted between them.
	Unpaired Pairing = "none"
	// ByBoot is between separate runs that stand for boots: the boots of one side
	// against those of the other, one figure of each.
	ByBoot Pairing = "boots"
)

// Report is the outcome of an experiment. No number
// in it is NaN or infinite, and no list but those of separate runs is nil when
// Build or Runs made it.
type Report struct {
	Schema     string  `json:"schema"`
	Experiment string  `json:"experiment"` // "compare" for separate runs
	Question   string  `json:"question,omitempty"`
	Pairing    Pairing `json:"pairing"`
	// Posted says that the figures are other programs', and no more of them is known
	// than what was printed.
	Posted bool   `json:"posted,omitempty"`
	Seed   uint64 `json:"seed"`
	// Blocks and Planned are 0 for separate runs.
	Blocks  int  `json:"blocks"`         // blocks in which every trial is there
	Planned int  `json:"blocks_planned"` // blocks that the plan asked for
	Partial bool `json:"partial"`        // trials that were to be run are missing
	// BootsA and BootsB are the boots of each side where pairing is by boot.
	BootsA int `json:"boots_a,omitempty"`
	BootsB int `json:"boots_b,omitempty"`
	// WarmupNS and WindowNS are 0 where separate runs leave them unknown or
	// have several.
	WarmupNS  int64   `json:"warmup_ns"`
	WindowNS  int64   `json:"window_ns"`
	MarginPct float64 `json:"margin_pct"`
	// PrecisionPct is the half-width of intervals that the plan asks for, WidestPct
	// that of the widest among those that matter, and WidestOf which that is; 0 and
	// empty where the plan asks for none.
	PrecisionPct float64 `json:"precision_pct,omitempty"`
	WidestPct    float64 `json:"widest_pct,omitempty"`
	WidestOf     string  `json:"widest_of,omitempty"`
	// Ended is EndedPrecision or EndedTime where that ended the run in good order
	// before all blocks were run, and empty otherwise.
	Ended string `json:"ended,omitempty"`
	// Variants is how many variants were run in each block.
	Variants int           `json:"variants,omitempty"`
	Factors  []spec.Factor `json:"factors"`
	// Comparisons has a row for each level but the baseline, test and metric,
	// sorted by factor, level, test and metric. In a plan with several factors
	// it is the factor's main effect: the mean over the others' levels.
	Comparisons []Comparison `json:"comparisons"`
	// Effects has the two-factor interactions of a plan with several factors:
	// what two changes together do beyond what each does by itself.
	Effects []Comparison `json:"effects"`
	// Aliases are effects that the variants that were run can't tell apart, by
	// factor ("rx") and pair ("rx:offload"). The first of each group has the rows.
	Aliases [][]string `json:"aliases,omitempty"`
	// Simple has, of interactions that are sure, what each change does at either
	// level of the other, which Under names; by the figures that stand for their
	// tests. They have no p and no verdict.
	Simple []Comparison `json:"simple,omitempty"`
	// Cells are the figures of each variant in a plan with several factors.
	Cells []Cell `json:"cells,omitempty"`
	// Drift is how the figures that stand for the tests went over the run.
	Drift []Drift `json:"drift,omitempty"`
	// Findings are sentences of the experiment's own that lead the answer; Sections
	// are its tables, and Checks hold what was found against what was to be found.
	Findings []string  `json:"findings,omitempty"`
	Sections []Section `json:"sections,omitempty"`
	Checks   []Check   `json:"checks,omitempty"`
	// Brief says that the sections stand for the comparisons: a text shows those in
	// place of the tables of all rows, which other forms have.
	Brief bool `json:"brief,omitempty"`
	// Beside has the figures of the plan's tests beside, and Each the round trips
	// that were kept one by one.
	Beside []Beside `json:"beside,omitempty"`
	Each   []Each   `json:"each,omitempty"`
	// Stages say where the time of round trips goes that were watched, a table for each
	// test.
	Stages []stages.Table `json:"stages,omitempty"`
	// Streams say where the data of streams waits whose queues were looked at.
	Streams []stages.Stream `json:"streams,omitempty"`
	// Families are the sizes of the two families of figures in which p is
	// adjusted, each by itself.
	Families Families `json:"families"`
	// Counts are the counters of every test and variant that were ever other
	// than zero, and Losses say where datagrams of one-way tests went missing.
	Counts   []Count          `json:"counts"`
	Losses   []Loss           `json:"losses"`
	Warnings []result.Warning `json:"warnings"`
	Trials   int              `json:"trials"`
	// Environment is the machine's facts, in a fixed order; of separate runs
	// those that are the same in all of them.
	Environment []Fact `json:"environment,omitempty"`
	// EnvironmentDiff is what differs between separate runs beside what they
	// measured; nil for a plan.
	EnvironmentDiff []FactChange `json:"environment_diff,omitzero"`
	// Sources are the separate runs, the baseline's first; nil for a plan.
	Sources []Source `json:"runs,omitzero"`
	Command string   `json:"command,omitempty"`
	Version string   `json:"version,omitempty"`
}

// Families counts the rows that have a p.
type Families struct {
	// Main are the figures that a text shows and an answer rests on, of all
	// ranks but result.Detail.
	Main int `json:"main"`
	// Detail are the others, which are in the JSON form alone.
	Detail int `json:"detail"`
}

// Fact is one line about the machine or the run.
type Fact = result.Fact

// Source is one of the separate runs that are compared.
type Source struct {
	Side   string       `json:"side"` // "a", the baseline's, or "b"
	ID     string       `json:"id"`
	Label  string       `json:"label,omitempty"`
	Target string       `json:"target,omitempty"`
	State  result.State `json:"state"`
	Start  time.Time    `json:"start"`
	Trials int          `json:"trials"` // all of them, compared or not
	// File is the one that another program's figures were read from.
	File string `json:"file,omitempty"`
}

// Comparison is one row: one metric of one test, a variant against the
// baseline.
type Comparison struct {
	Test   string      `json:"test"`
	Params spec.Params `json:"params"`
	// Varied names parameters that levels of the plan's factors set: Params has
	// the plan's, and each variant its own.
	Varied []string `json:"varied,omitempty"`
	// Under is what sets rows of one test and metric apart that are compared
	// between separate runs: "rx=kthread" where each run has several variants.
	Under    string        `json:"under,omitempty"`
	Factor   string        `json:"factor"` // both, as in "rx:offload", for an interaction
	Metric   string        `json:"metric"`
	End      string        `json:"end"`
	Unit     unit.Unit     `json:"unit"`
	Better   result.Better `json:"better"`
	Baseline string        `json:"baseline"` // level of the factor, or "softirq:off"
	Variant  string        `json:"variant"`
	// N is the complete pairs of blocks; between separate runs the figures of
	// the smaller side, and NA and NB are those of each: trials, or boots where
	// pairing is by boot.
	N     int     `json:"n"`
	NA    int     `json:"n_a,omitempty"`
	NB    int     `json:"n_b,omitempty"`
	A     Summary `json:"a"` // the baseline
	B     Summary `json:"b"` // the variant
	Scale Scale   `json:"scale"`
	// The estimated shift from A to B with its interval: in percent where the
	// scale is percent, else in the metric's unit, and the other three are
	// null. All are null where nothing could be estimated, and the bounds
	// where one pair is all there is.
	DeltaPct *float64 `json:"delta_pct"`
	LoPct    *float64 `json:"lo_pct"`
	HiPct    *float64 `json:"hi_pct"`
	Delta    *float64 `json:"delta,omitempty"`
	Lo       *float64 `json:"lo,omitempty"`
	Hi       *float64 `json:"hi,omitempty"`
	// Margin is the smallest shift that matters, in the shift's own scale.
	Margin float64 `json:"margin"`
	// Confidence is the interval's exact level, at least the report's where n allows
	// it (0.9375 for n = 5); 0 where there is no interval.
	Confidence float64 `json:"confidence"`
	// P is the row's own: of sign flips, between separate runs of Mann-Whitney's
	// U, and between boots of Welch's t.
	P       *float64 `json:"p"`
	PAdj    *float64 `json:"p_adj"` // the family's, as Families has it
	Verdict Verdict  `json:"verdict"`
	// Real says that a row judged same differs from zero all the same.
	Real bool `json:"real,omitempty"`
	// BlocksNeeded is an estimate of the blocks that would settle an unsure
	// row; 0 where none is given.
	BlocksNeeded int `json:"blocks_needed,omitempty"`
	// TrialsNeeded is the same between separate runs: trials on each side.
	TrialsNeeded int `json:"trials_needed,omitempty"`
	// BootsNeeded is the same where pairing is by boot: boots on each side.
	BootsNeeded int `json:"boots_needed,omitempty"`
	// Role is there where the plan names the metrics that matter.
	Role Role `json:"role,omitempty"`
	// Held is what held throughput in nearly all trials of both sides, so that
	// the row can't tell them apart; null where nothing did.
	Held *result.Held `json:"held,omitempty"`
	// Spread is there where a side has several runs with figures.
	Spread *Spread `json:"spread,omitempty"`
	// Single is there where the figures of both sides sum up single values that were
	// printed.
	Single   *Single          `json:"single,omitempty"`
	Warnings []result.Warning `json:"warnings"`
}

// Summary describes one side's figures over the blocks of a comparison, in
// the metric's unit. What there is no figure for is null.
type Summary struct {
	Median *float64 `json:"median"`
	Lo     *float64 `json:"lo"` // interval of the median, exact order statistics
	Hi     *float64 `json:"hi"`
	Max    *float64 `json:"max"` // the largest figure of any block
}

// Shift returns the estimate with its interval, whichever scale it has, NaN
// for what is null.
func (c *Comparison) Shift() (est, lo, hi float64) {
	if c.Scale == Percent {
		return value(c.DeltaPct), value(c.LoPct), value(c.HiPct)
	}
	return value(c.Delta), value(c.Lo), value(c.Hi)
}

// value is what a nullable number holds, NaN for null.
func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// number makes a nullable number; null for NaN and infinities, which JSON
// does not have.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
