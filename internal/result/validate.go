package result

import (
	"fmt"
	"time"

	"netdelta/internal/spec"
)

// Validate reports the first thing in a trial that no run could have
// recorded.
func (t *Trial) Validate() error {
	if t.Schema != "" && t.Schema != Schema {
		return fmt.Errorf("schema %q: %s is needed", shorten(t.Schema), Schema)
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"block", t.Block}, {"order", t.Order}, {"attempt", t.Attempt}} {
		if n.value < 0 {
			return fmt.Errorf("%s %d is negative", n.name, n.value)
		}
	}
	for _, d := range []time.Duration{t.Warmup, t.Window} {
		if d < 0 || d > spec.MaxWindow {
			return fmt.Errorf("a warm-up of %v and a window of %v can't be: 0 to %v", t.Warmup, t.Window, spec.MaxWindow)
		}
	}
	if t.Imported != nil {
		return t.validateImported()
	}
	full, err := spec.NewTest(t.Test.Name, t.Test.Params)
	if err != nil {
		return err
	}
	if full != t.Test {
		return fmt.Errorf("test %q lacks its defaults: it is %q", t.Test, full)
	}
	// MarshalJSON of a time allows no other years.
	if y := t.Start.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("start in the year %d can't be", y)
	}
	if err := t.Local.validate(Local); err != nil {
		return err
	}
	if t.Remote != nil {
		if err := t.Remote.validate(Remote); err != nil {
			return err
		}
	}
	return checkCounts("path", t.Path.Counts)
}

// Validate reports the first thing in one end's figures that no run could
// have recorded.
func (e *End) Validate() error {
	if e.Role != Local && e.Role != Remote {
		return fmt.Errorf("role %q of an end: %s or %s is needed", shorten(e.Role), Local, Remote)
	}
	if e.Elapsed < 0 {
		return fmt.Errorf("%s end: a window of %v is negative", e.Role, e.Elapsed)
	}
	if e.Messages < 0 || e.Bytes < 0 {
		return fmt.Errorf("%s end: %d messages of %d bytes in all can't be", e.Role, e.Messages, e.Bytes)
	}
	if err := checkIntervals(e.Intervals); err != nil {
		return fmt.Errorf("%s end: %w", e.Role, err)
	}
	if err := checkEach(e.Each); err != nil {
		return fmt.Errorf("%s end: %w", e.Role, err)
	}
	if err := e.Seen.validate(); err != nil {
		return fmt.Errorf("%s end: %w", e.Role, err)
	}
	if err := e.Counters.validate(); err != nil {
		return fmt.Errorf("%s end: %w", e.Role, err)
	}
	return checkCounts(e.Role+" end", e.Counts)
}

// checkEach is about the round trips that were kept one by one.
func checkEach(each []int64) error {
	if len(each) > spec.MaxEach {
		return fmt.Errorf("%d round trips one by one are more than the %d that are ever kept", len(each), spec.MaxEach)
	}
	for i, ns := range each {
		if ns < -1 {
			return fmt.Errorf("round trip %d took %d ns: it is 0 or more, or -1 for one that was given up", i+1, ns)
		}
	}
	return nil
}

func (e *End) validate(role string) error {
	if e.Role != role {
		return fmt.Errorf("role %q where the %s end is needed", shorten(e.Role), role)
	}
	return e.Validate()
}

// checkCounts goes by the names' order, so that the same record always gives
// the same error.
func checkCounts(whose string, counts map[string]int64) error {
	if name, below := belowZero(counts); below {
		return fmt.Errorf("%s: count %q is %d, which is negative", whose, shorten(name), counts[name])
	}
	return nil
}

// belowZero is the first name, in alphabetical order, whose count is below zero. Nearly
// never there is one, so nothing is sorted before.
func belowZero(counts map[string]int64) (first string, below bool) {
	for name, n := range counts {
		if n < 0 && (!below || name < first) {
			first, below = name, true
		}
	}
	return first, below
}
