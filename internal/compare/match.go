package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// timing is how long a trial's warm-up and window were to be, by its own record
// or by the run's plan. Where neither says, as in an import, there is a window
// only: the length that it really had.
type timing struct {
	warmup, window time.Duration
	planned        bool
}

func timingOf(run *keptRun, x *result.Trial) timing {
	if x.Window > 0 {
		return timing{x.Warmup, x.Window, true}
	}
	if run.Plan != nil && run.Plan.Window > 0 {
		return timing{run.Plan.Warmup, run.Plan.Window, true}
	}
	return timing{window: x.Local.Elapsed}
}

// like says whether figures of the two may be compared. Windows that were
// planned are the same or they are not; a measured one may be off by a tenth.
func (a timing) like(b timing) bool {
	if a.planned && b.planned {
		return a == b
	}
	return 10*(a.window-b.window).Abs() <= max(a.window, b.window)
}

func (a timing) String() string {
	if !a.planned {
		return fmt.Sprintf("time=%v", a.window.Round(time.Millisecond))
	}
	return fmt.Sprintf("time=%v warmup=%v", a.window, a.warmup)
}

// match is all trials of one test, with one set of parameters, one timing and,
// where runs have several, one variant.
type match struct {
	test    spec.Test
	variant string
	timing  timing
	under   string // as in Comparison.Under
	// cells are the trials by side and by the side's runs.
	cells [2][][]*cell
}

func (m *match) trials(side int) []*cell { return slices.Concat(m.cells[side]...) }

func (m *match) both() bool { return len(m.trials(0)) > 0 && len(m.trials(1)) > 0 }

// matches sorts all trials by what may be compared with what. The order does
// not depend on that of the trials.
func matches(sides [2]*party) []*match {
	var all []*match
	find := func(test spec.Test, variant string, t timing) *match {
		for _, m := range all {
			if m.test == test && m.variant == variant && m.timing.like(t) {
				if t.planned {
					// From now on no other plan's timing is like it.
					m.timing = t
				}
				return m
			}
		}
		m := &match{test: test, variant: variant, timing: t}
		for side, p := range sides {
			m.cells[side] = make([][]*cell, len(p.kept))
		}
		all = append(all, m)
		return m
	}
	for side, p := range sides {
		for i, run := range p.kept {
			for _, x := range run.trials {
				variant := ""
				if !p.ignoresVariant {
					variant = variantKey(x)
				}
				m := find(x.Test, variant, timingOf(run, x))
				m.cells[side][i] = append(m.cells[side][i], newCell(x))
			}
		}
	}
	first := firstOf(all)
	slices.SortStableFunc(all, func(a, b *match) int {
		return cmp.Or(
			cmp.Compare(rankOf(a.test), rankOf(b.test)),
			cmp.Compare(first[baseOf(a.test)], first[baseOf(b.test)]),
			cmp.Compare(a.test.RequestSize(), b.test.RequestSize()),
			cmp.Compare(a.test.ResponseSize(), b.test.ResponseSize()),
			result.Natural(a.test.String(), b.test.String()),
			strings.Compare(a.variant, b.variant),
			cmp.Compare(a.timing.window, b.timing.window),
			cmp.Compare(a.timing.warmup, b.timing.warmup),
		)
	})
	return all
}

// rankOf is the test's place in the table of tests.
func rankOf(t spec.Test) int {
	return slices.IndexFunc(spec.Kinds(), func(k spec.Kind) bool { return k.Name == t.Name })
}

// nameMatches says of each match what sets it apart from others of its test.
func nameMatches(all []*match) {
	for _, m := range all {
		m.under = m.variant
		if slices.ContainsFunc(all, func(o *match) bool { return o != m && o.test == m.test && o.variant == m.variant }) {
			m.under = strings.TrimSpace(m.under + " " + m.timing.String())
		}
	}
}

// describe names a match and what sets it apart.
func (m *match) describe(apart string) string {
	if apart == "" {
		return m.test.String()
	}
	return fmt.Sprintf("%s (%s)", m.test, apart)
}

// unmatched lists what only one side has. Where the other side has the same
// test with another timing or other parameters, it says so: that is a
// difference that would otherwise pass for one of the path.
func unmatched(all []*match, names [2]string) []result.Warning {
	var warnings []result.Warning
	var timed []*match
	for _, m := range all {
		i := slices.IndexFunc(all, func(o *match) bool {
			return !m.both() && !o.both() && len(m.trials(0)) > 0 && len(o.trials(1)) > 0 &&
				o.test == m.test && o.variant == m.variant
		})
		if i < 0 {
			continue
		}
		timed = append(timed, m, all[i])
		warnings = append(warnings, result.Warning{Code: "unmatched",
			Text: fmt.Sprintf("%s is not compared: it was measured with %v in %s and with %v in %s",
				m.describe(m.variant), m.timing, names[0], all[i].timing, names[1]),
			Advice: "run one again with the other's --time and --warmup"})
	}
	for side, name := range names {
		var only []string
		for _, m := range all {
			if !m.both() && len(m.trials(side)) > 0 && !slices.Contains(timed, m) {
				only = append(only, m.describe(m.under))
			}
		}
		if len(only) > 0 {
			warnings = append(warnings, result.Warning{Code: "unmatched",
				Text:   fmt.Sprintf("only %s has %s: not compared", name, strings.Join(only, ", ")),
				Advice: "run both sides with the same tests and parameters"})
		}
	}
	return warnings
}
