package spec

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
)

// Factor is something that varies between variants.
type Factor struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
	// Slow says that a change of level is expensive: the factor then has one level
	// through a whole plot of each block, while the others change within it.
	Slow bool `json:"slow,omitempty"`
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
	Tests  []Test    `json:"tests"`
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

// Validate reports the first thing that is wrong with a plan that compares
// variants, in words that name what would be right.
func (p *Plan) Validate() error {
	if p.Blocks < 1 || p.Blocks > MaxBlocks {
		return fmt.Errorf("blocks %d is out of range: 1 to %d (a verdict needs %d)", p.Blocks, MaxBlocks, MinBlocks)
	}
	if err := p.validateTiming(); err != nil {
		return err
	}
	if !(p.Margin > 0 && p.Margin < 1) {
		return fmt.Errorf("margin %v is out of range: above 0%% and below 100%%", p.Margin)
	}
	if err := p.validateTests(); err != nil {
		return err
	}
	if err := p.validateFactors(); err != nil {
		return err
	}
	if variants := p.countVariants(); variants > MaxTrials/len(p.Tests)/p.Blocks {
		return fmt.Errorf("%d blocks of every variant with %d tests each are more than %d trials: take fewer blocks, levels or tests",
			p.Blocks, len(p.Tests), MaxTrials)
	}
	return nil
}

// Single says that the plan has nothing to vary.
func (p *Plan) Single() bool { return len(p.Factors) == 0 }

// ValidateSingle is Validate for a plan of one variant. With nothing to
// compare it has neither baseline nor margin, and its blocks are called trials.
func (p *Plan) ValidateSingle() error {
	if p.Blocks < 1 || p.Blocks > MaxBlocks {
		return fmt.Errorf("trials %d is out of range: 1 to %d", p.Blocks, MaxBlocks)
	}
	if err := p.validateTiming(); err != nil {
		return err
	}
	if err := p.validateTests(); err != nil {
		return err
	}
	if !p.Single() || len(p.Baseline) > 0 || p.Margin != 0 {
		return fmt.Errorf("a plan of one variant has no factors, no baseline and no margin")
	}
	if len(p.Tests) > MaxTrials/p.Blocks {
		return fmt.Errorf("%d trials of %d tests are more than %d in all: take fewer trials or tests", p.Blocks, len(p.Tests), MaxTrials)
	}
	return nil
}

func (p *Plan) validateTiming() error {
	if p.Window < MinWindow || p.Window > MaxWindow {
		return fmt.Errorf("time %v is out of range: %v to %v for one trial", p.Window, MinWindow, MaxWindow)
	}
	if p.Warmup < 0 || p.Warmup > MaxWindow {
		return fmt.Errorf("warm-up %v is out of range: 0 to %v", p.Warmup, MaxWindow)
	}
	if len(p.Counters) > MaxCounters {
		return fmt.Errorf("%d sources of counters are more than %d", len(p.Counters), MaxCounters)
	}
	return CheckInterval(p.Interval, p.Window)
}

// CheckInterval reports what is wrong with the length of the intervals of a
// window; 0 stands for none. One that is not shorter than the window is
// allowed and gives none.
func CheckInterval(interval, window time.Duration) error {
	if interval == 0 || interval >= MinInterval && window/interval <= MaxIntervals {
		return nil
	}
	if interval < MinInterval {
		return fmt.Errorf("interval %v is out of range: 0 (none), or %v and up", interval, MinInterval)
	}
	return fmt.Errorf("interval %v divides the window of %v into more than %d: take a longer one", interval, window, MaxIntervals)
}

// validateTests fills in the tests' defaults, too.
func (p *Plan) validateTests() error {
	if len(p.Tests) == 0 {
		return fmt.Errorf("no test named: valid are %s", strings.Join(TestNames(), ", "))
	}
	for i := range p.Tests {
		if err := p.Tests[i].complete(); err != nil {
			return err
		}
		if slices.Contains(p.Tests[:i], p.Tests[i]) {
			return fmt.Errorf("test %q is named twice", p.Tests[i])
		}
	}
	return nil
}

func (p *Plan) validateFactors() error {
	if len(p.Factors) == 0 {
		return fmt.Errorf("no factor named: nothing would vary")
	}
	seen := map[string]bool{}
	for _, f := range p.Factors {
		if err := checkName(f.Name); err != nil {
			return fmt.Errorf("factor %q: %w", f.Name, err)
		}
		if seen[f.Name] {
			return fmt.Errorf("factor %s is named twice", f.Name)
		}
		seen[f.Name] = true
		if len(f.Levels) < 2 {
			return fmt.Errorf("factor %s needs two levels or more to compare, got %d", f.Name, len(f.Levels))
		}
		for i, l := range f.Levels {
			if err := checkName(l); err != nil {
				return fmt.Errorf("factor %s: level %q: %w", f.Name, l, err)
			}
			if slices.Contains(f.Levels[:i], l) {
				return fmt.Errorf("factor %s: level %s is named twice (%s-again compares it with itself)", f.Name, l, l)
			}
		}
		if !slices.Contains(f.Levels, p.Baseline[f.Name]) {
			return fmt.Errorf("factor %s: baseline %q is none of its levels %s", f.Name, p.Baseline[f.Name], strings.Join(f.Levels, ", "))
		}
	}
	for name := range p.Baseline {
		if !seen[name] {
			return fmt.Errorf("the baseline names a factor %q that the plan does not have", name)
		}
	}
	return nil
}

// checkName holds names to what stays one word in a variant's key, in a
// comma-separated list and on a command line.
func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("the name is empty")
	}
	if len(name) > MaxName {
		return fmt.Errorf("the name is longer than %d bytes", MaxName)
	}
	for _, r := range name {
		if r <= ' ' || r > '~' || r == '=' || r == ',' {
			return fmt.Errorf("the name has %q in it: use printable ASCII without blanks, commas and =", r)
		}
	}
	return nil
}

// countVariants is the size of the full crossing, or MaxTrials + 1 where it
// is larger than that.
func (p *Plan) countVariants() int {
	n := 1
	for _, f := range p.Factors {
		if n *= len(f.Levels); n > MaxTrials {
			return MaxTrials + 1
		}
	}
	return n
}

// Variants returns the full crossing of all factors, first factor slowest.
func (p *Plan) Variants() []Variant {
	all := []Variant{{}}
	for _, f := range p.Factors {
		var next []Variant
		for _, v := range all {
			for _, l := range f.Levels {
				w := Variant{f.Name: l}
				for name, level := range v {
					w[name] = level
				}
				next = append(next, w)
			}
		}
		all = next
	}
	return all
}

// Slot is one visit of a variant within a block: the path is made once and
// every test runs on it, in the order given.
type Slot struct {
	Block int // from 0
	Order int // place within the whole schedule, from 0
	// Plot is the whole plot, from 0 through the whole schedule: slots that follow
	// one another with the same levels of all slow factors, in one block.
	Plot    int
	Variant Variant
	Tests   []Test
}

// Schedule returns the plan's slots: every variant once in each block, blocks
// one after the other, variants in random order within each, tests in one
// random order for each block, so that a block's variants meet their tests
// alike. The same plan and seed always give the same schedule. The plan is
// one that Validate accepts.
func (p *Plan) Schedule() []Slot {
	// A fixed second word keeps this stream apart from others of the same seed.
	rng := rand.New(rand.NewPCG(p.Seed, 0x6e657464656c7461))
	variants := p.Variants()
	slots := make([]Slot, 0, max(0, p.Blocks)*len(variants))
	for b := range p.Blocks {
		tests := slices.Clone(p.Tests)
		rng.Shuffle(len(tests), func(i, j int) { tests[i], tests[j] = tests[j], tests[i] })
		for _, v := range rng.Perm(len(variants)) {
			slots = append(slots, Slot{Block: b, Order: len(slots), Variant: variants[v], Tests: tests})
		}
	}
	return slots
}

// Trials is the number of trials that the plan runs.
func (p *Plan) Trials() int { return p.Blocks * p.countVariants() * len(p.Tests) }

// TestUnder is the plan's test as a variant runs it: with the parameters that
// the variant's levels set.
func (p *Plan) TestUnder(v Variant, t Test) (Test, error) { return p.testUnder(v, t) }

func (p *Plan) testUnder(_ Variant, t Test) (Test, error) { return t, nil }
