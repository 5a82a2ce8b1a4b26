package summary

import (
	"slices"

	"netdelta/internal/result"
)

// tells adds what a trial has figures of, and what nobody counted.
func (t trial) tells(x *result.Trial) trial {
	told, uncounted := x.Tells()
	t.told = told
	if x.Imported != nil {
		t.imported = x.Imported.Definitions()
	}
	t.warnings = append(t.warnings, uncounted...)
	return t
}

// definitions are the metrics of the group's test that its trials tell of.
func (g *group) definitions() []result.Definition {
	if all := g.imported(); all != nil {
		return all
	}
	return result.Present(result.Definitions(g.test), func(k result.Taken) bool {
		return slices.ContainsFunc(g.trials, func(t trial) bool { return t.told[k] })
	})
}

// imported are the metrics of trials that another program made, each once, in the
// first one's order; nil of our own.
func (g *group) imported() []result.Definition {
	var all []result.Definition
	for _, t := range g.trials {
		for _, d := range t.imported {
			if !slices.ContainsFunc(all, func(o result.Definition) bool { return o.Taken() == d.Taken() }) {
				all = append(all, d)
			}
		}
	}
	return all
}
