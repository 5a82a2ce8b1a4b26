package spec

import (
	"maps"
	"strings"
	"time"
)

// MinBlocks is the fewest blocks from which a verdict other than unsure can
// come: with 5 the smallest two-sided p of 2^5 sign flips is 0.0625.
const MinBlocks = 6

// Limits of a plan.
const (
	MinWindow = 50 * time.Millisecond
	MaxWindow = time.Hour
	MaxBlocks = 10000
	// MinInterval is far above what the end of an interval costs, some
	// microseconds; MaxIntervals keeps the record of a trial small.
	MinInterval  = 100 * time.Millisecond
	MaxIntervals = 3600
	// MaxCounters is the most sources of counters that can be named.
	MaxCounters = 64
	// MaxTrials keeps a crossing of many factors from outgrowing memory.
	MaxTrials = 1_000_000
	// MaxName is the longest name of a factor or level, in bytes.
	MaxName = 64
	// MaxEach is the most round trips of a window that are kept one by one.
	MaxEach = 100_000
)

// Factor is something that varies between variants.
type Factor struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
	// Slow says that a change of level is expensive: the factor then has one level
	// through a whole plot of each block, while the others change within it.
	Slow bool `json:"slow,omitempty"`
	// Condition says that its levels are circumstances rather than alternatives:
	// everything else is compared within each of them, and they with nothing.
	Condition bool `json:"condition,omitempty"`
	// Settings are what each level sets, by the level's name; nil where the
	// experiment itself knows what its levels are.
	Settings map[string][]Setting `json:"settings,omitempty"`
}

// Variant is one level of every factor, by the factor's name.
type Variant map[string]string

// Key is the variant's text form, factors in the order given: "rx=kthread".
// Two variants of a valid plan never have the same key.
func (v Variant) Key(factors []Factor) string {
	parts := make([]string, len(factors))
	for i, f := range factors {
		parts[i] = f.Name + "=" + v[f.Name]
	}
	return strings.Join(parts, " ")
}

// Plan is a whole experiment: what varies, what is measured, how often and
// for how long, and the order's seed. A plan without factors measures one
// variant, a path as it is: each block then has one trial of each test.
type Plan struct {
	Experiment string   `json:"experiment"`
	Question   string   `json:"question,omitempty"`
	Factors    []Factor `json:"factors"`
	// Baseline is the level of each factor that the others are compared with.
	Baseline Variant `json:"baseline"`
	// Chosen are the variants that are run of the full crossing; nil for all.
	Chosen []Variant `json:"variants,omitempty"`
	// Fraction is the share that Chosen is of the full crossing, as its user wrote
	// it ("1/2"), where a share was asked for; empty otherwise.
	Fraction string `json:"fraction,omitempty"`
	Tests    []Test `json:"tests"`
	// Beside are tests that no factor has to do with, wake alone: each runs in
	// MinBlocks blocks at least, evenly spread, in a slot of its own with no variant.
	Beside []Test `json:"beside,omitempty"`
	// Each is how many round trips of a window are kept one by one, the first ones;
	// 0 for none.
	Each int `json:"each,omitempty"`
	// Explain has each test that can be run a second time with some of its round trips
	// watched, by what Params.Explain names; empty for none.
	Explain string `json:"explain,omitempty"`
	// Blocks is how many blocks are run, or the most where Precision may end the
	// run before.
	Blocks int `json:"blocks"`
	// Precision ends the run when the interval of every figure that matters reaches
	// no further than that from its estimate: 0.02 is 2%. 0 for no such end.
	Precision float64 `json:"precision,omitempty"`
	// Limit is the time after which no further block begins; 0 for none.
	Limit time.Duration `json:"limit_ns,omitempty"`
	// Metrics are those that matter, by name: the others become details. nil for
	// those of every report.
	Metrics []string      `json:"metrics,omitempty"`
	Warmup  time.Duration `json:"warmup_ns"`
	Window  time.Duration `json:"window_ns"`
	// Interval is how often figures are taken within a window; 0 for never.
	Interval time.Duration `json:"interval_ns,omitempty"`
	// Counters are the sources that both hosts read around each window; nil for
	// those that are read by default, and "none" alone for none.
	Counters []string `json:"counters,omitempty"`
	// Soak has a loop of idle priority take what time the CPUs have left, so
	// that the cost of a test is known from what the loop lacks.
	Soak bool   `json:"soak,omitempty"`
	Seed uint64 `json:"seed"`
	// Margin is the smallest relative change that matters: 0.02 is 2%.
	Margin float64 `json:"margin"`
}

// Single says that the plan has nothing to vary.
func (p *Plan) Single() bool { return len(p.Factors) == 0 }

// countVariants is the number of variants that are run, or MaxTrials + 1 where
// it is larger than that.
func (p *Plan) countVariants() int {
	if p.Chosen != nil {
		return len(p.Chosen)
	}
	n := 1
	for _, f := range p.Factors {
		if n *= len(f.Levels); n > MaxTrials {
			return MaxTrials + 1
		}
	}
	return n
}

// Variants returns the variants that are run: the chosen ones in their order, or
// else the full crossing of all factors, first factor slowest.
func (p *Plan) Variants() []Variant {
	if p.Chosen == nil {
		return crossing(p.Factors)
	}
	all := make([]Variant, len(p.Chosen))
	for i, v := range p.Chosen {
		all[i] = maps.Clone(v)
	}
	return all
}

// crossing is every combination of the factors' levels, first factor slowest.
func crossing(factors []Factor) []Variant {
	all := []Variant{{}}
	for _, f := range factors {
		var next []Variant
		for _, v := range all {
			for _, l := range f.Levels {
				w := Variant{f.Name: l}
				maps.Copy(w, v)
				next = append(next, w)
			}
		}
		all = next
	}
	return all
}

// Trials is the number of trials that the plan runs, those of its tests beside
// included, at most where its precision may end it before.
func (p *Plan) Trials() int { return p.Blocks * (p.countVariants()*len(p.Tests) + p.besideEach()) }
