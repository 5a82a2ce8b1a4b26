package compare

import (
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// Bears says before anything is measured what the variants of a valid plan can't
// tell: the groups of effects that are one, as the report's Aliases, and the
// warnings that it will have of that. Both are nil for a full crossing.
func Bears(plan *spec.Plan) (aliases [][]string, warnings []result.Warning) {
	one := partsOf(plan)[0] // what can be told is the same in all
	_, _, aliases, warnings = effectsOf(&one.plan, one.variants)
	return aliases, warnings
}

// FewestBlocks is the fewest blocks from which a verdict on the plan can come.
func FewestBlocks(plan *spec.Plan) int {
	g := grid{plan: plan}
	return stats.FewestPairs(g.confidence())
}
