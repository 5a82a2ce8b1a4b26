package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Validate reports the first thing that is wrong with a plan that compares
// variants, in words that name what would be right.
func (p *Plan) Validate() error {
	if p.Blocks < 1 || p.Blocks > MaxBlocks {
		return faultAt(at("blocks"), "blocks %d is out of range: 1 to %d (a verdict needs %d)", p.Blocks, MaxBlocks, MinBlocks)
	}
	if err := p.validateTiming(); err != nil {
		return err
	}
	if !(p.Margin > 0 && p.Margin < 1) {
		return faultAt(at("margin"), "margin %v is out of range: above 0%% and below 100%%", p.Margin)
	}
	if err := p.validateEnd(); err != nil {
		return err
	}
	if err := p.validateTests(); err != nil {
		return err
	}
	if err := p.validateFactors(); err != nil {
		return err
	}
	if err := p.validateChosen(); err != nil {
		return err
	}
	if variants := p.countVariants(); variants > MaxTrials/len(p.Tests)/p.Blocks || p.Trials() > MaxTrials {
		return faultAt(at("factors"), "%d blocks of every variant with %d tests each are more than %d trials: take fewer blocks, levels or tests",
			p.Blocks, len(p.Tests), MaxTrials)
	}
	return p.validateUnder()
}

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
	if p.Chosen != nil || p.Fraction != "" || p.Precision != 0 {
		return fmt.Errorf("a plan of one variant has neither chosen variants nor a precision")
	}
	if len(p.Tests) > MaxTrials/p.Blocks || p.Trials() > MaxTrials {
		return fmt.Errorf("%d trials of %d tests are more than %d in all: take fewer trials or tests", p.Blocks, len(p.Tests), MaxTrials)
	}
	return nil
}

func (p *Plan) validateTiming() error {
	if p.Window < MinWindow || p.Window > MaxWindow {
		return faultAt(at("time"), "time %v is out of range: %v to %v for one trial", p.Window, MinWindow, MaxWindow)
	}
	if p.Warmup < 0 || p.Warmup > MaxWindow {
		return faultAt(at("warmup"), "warm-up %v is out of range: 0 to %v", p.Warmup, MaxWindow)
	}
	if len(p.Counters) > MaxCounters {
		return faultAt(at("counters"), "%d sources of counters are more than %d", len(p.Counters), MaxCounters)
	}
	return within(CheckInterval(p.Interval, p.Window), "interval")
}

// validateEnd is about what ends the run, and what that is judged by.
func (p *Plan) validateEnd() error {
	if p.Precision != 0 && !(p.Precision > 0 && p.Precision < 1) {
		return faultAt(at("precision"), "precision %v is out of range: 0%% (none) or above, below 100%%", p.Precision)
	}
	if p.Precision != 0 && p.Blocks < MinBlocks {
		return faultAt(at("blocks"), "blocks %d leave a run to a precision no room: give %d or more", p.Blocks, MinBlocks)
	}
	if p.Limit < 0 {
		return faultAt(at("limit"), "limit %v is out of range: 0 (none) and up", p.Limit)
	}
	for i, m := range p.Metrics {
		if err := wordArg(m); err != nil {
			return within(fmt.Errorf("metric %w", err), "metrics", m)
		}
		if slices.Contains(p.Metrics[:i], m) {
			return faultAt(at("metrics", m), "metric %s is named twice", m)
		}
	}
	return nil
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
		return faultAt(at("tests"), "no test named: valid are %s", strings.Join(TestNames(), ", "))
	}
	for i := range p.Tests {
		if err := p.Tests[i].complete(); err != nil {
			return within(err, "tests", fmt.Sprint(i))
		}
		if slices.Contains(p.Tests[:i], p.Tests[i]) {
			return faultAt(at("tests", fmt.Sprint(i)), "test %q is named twice", p.Tests[i])
		}
	}
	if err := p.pairWatched(); err != nil {
		return err
	}
	if err := p.validateBeside(); err != nil {
		return err
	}
	return p.validateEach()
}

func (p *Plan) validateFactors() error {
	if len(p.Factors) == 0 {
		return faultAt(at("factors"), "no factor named: nothing would vary")
	}
	seen := map[string]bool{}
	owner := map[string]string{} // factors, by what their levels set
	for _, f := range p.Factors {
		if err := checkName(f.Name); err != nil {
			return within(fmt.Errorf("factor %s: %w", quoted(f.Name), err), "factors", f.Name)
		}
		if seen[f.Name] {
			return faultAt(at("factors", f.Name), "factor %s is named twice", f.Name)
		}
		seen[f.Name] = true
		if err := f.validateLevels(); err != nil {
			return within(fmt.Errorf("factor %s: %w", f.Name, err), "factors", f.Name)
		}
		if base := p.Baseline[f.Name]; !slices.Contains(f.Levels, base) {
			return faultAt(at("factors", f.Name, "baseline"), "factor %s: baseline %s is none of its levels %s", f.Name, quoted(base), strings.Join(f.Levels, ", "))
		}
		refs, err := f.validateSettings()
		if err != nil {
			return within(fmt.Errorf("factor %s: %w", f.Name, err), "factors", f.Name)
		}
		for _, ref := range refs {
			if other, taken := owner[ref]; taken {
				return faultAt(at("factors", f.Name), "factors %s and %s both set %s: one setting belongs to one factor", other, f.Name, ref)
			}
			owner[ref] = f.Name
		}
	}
	for name := range p.Baseline {
		if !seen[name] {
			return fmt.Errorf("the baseline names a factor %q that the plan does not have", name)
		}
	}
	return p.validateConditions()
}

// validateLevels is about a factor's levels by themselves.
func (f *Factor) validateLevels() error {
	if len(f.Levels) < 2 && !(f.Condition && len(f.Levels) == 1) {
		return faultAt(at("levels"), "it needs two levels or more to compare, got %d", len(f.Levels))
	}
	seen := map[string]bool{}
	for _, l := range f.Levels {
		if err := checkName(l); err != nil {
			return within(fmt.Errorf("level %s: %w", quoted(l), err), "levels", l)
		}
		if seen[l] {
			return faultAt(at("levels", l), "level %s is named twice (%s%s compares it with itself)", l, l, Again)
		}
		seen[l] = true
	}
	return nil
}

// validateChosen is about the variants that are run where not all are.
func (p *Plan) validateChosen() error {
	if p.Chosen == nil {
		return nil
	}
	if len(p.Chosen) < 2 {
		return faultAt(at("variants"), "two variants or more are needed to compare, got %d", len(p.Chosen))
	}
	seen := map[string]bool{}
	held := map[string]bool{} // factor=level
	for i, v := range p.Chosen {
		where := at("variants", fmt.Sprint(i))
		for _, f := range p.Factors {
			if l, ok := v[f.Name]; !ok {
				return faultAt(where, "variant %d has no level of factor %s", i+1, f.Name)
			} else if !slices.Contains(f.Levels, l) {
				return faultAt(append(where, f.Name), "variant %d: %s is no level of factor %s: valid are %s", i+1, quoted(l), f.Name, strings.Join(f.Levels, ", "))
			}
			held[f.Name+"="+v[f.Name]] = true
		}
		if len(v) > len(p.Factors) {
			return faultAt(where, "variant %d names a factor that the plan does not have", i+1)
		}
		key := v.Key(p.Factors)
		if seen[key] {
			return faultAt(where, "variant %q is chosen twice", key)
		}
		seen[key] = true
	}
	if err := p.validateWithin(); err != nil {
		return err
	}
	// Conditions are compared with nothing: any combination of theirs will do.
	_, compared := Split(p.Factors)
	if base := p.Baseline.Key(compared); !slices.ContainsFunc(p.Chosen, func(v Variant) bool { return v.Key(compared) == base }) {
		return faultAt(at("variants"), "the baseline, %q, is none of the chosen variants: it is what the others are compared with", base)
	}
	for _, f := range p.Factors {
		for _, l := range f.Levels {
			if !held[f.Name+"="+l] {
				return faultAt(at("variants"), "no chosen variant has level %s of factor %s", l, f.Name)
			}
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
