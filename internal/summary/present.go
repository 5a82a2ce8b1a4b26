package summary

import (
	"slices"

	"netdelta/internal/result"
)

// tells adds what a trial has figures of, and what nobody counted.
func (t trial) tells(x *result.Trial) trial {
	told, uncounted := x.Tells()
	t.told = told
	t.warnings = append(t.warnings, uncounted...)
	return t
}

// definitions are the metrics of the group's test that its trials tell of.
func (g *group) definitions() []result.Definition {
	return result.Present(result.Definitions(g.test), func(k result.Taken) bool {
		return slices.ContainsFunc(g.trials, func(t trial) bool { return t.told[k] })
	})
}
