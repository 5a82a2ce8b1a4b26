package compare

import (
	"math/rand/v2"
	"testing"

	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// A slow setting that is not made anew where a block begins with the levels with
// which the one before ended has one error in two blocks: the slow factor's p is
// then too small, by what the documentation says. Made anew, it keeps its 5%.
func TestSlowSettingThatStays(t *testing.T) {
	const runs = 500
	alarms := map[bool]int{}
	for _, stays := range []bool{false, true} {
		for i := range runs {
			plan := streamPlan(t, 12, "off", "on")
			plan.Factors = []spec.Factor{{Name: "mtu", Levels: []string{"1500", "9000"}, Slow: true}, {Name: "gro", Levels: []string{"off", "on"}}}
			plan.Baseline = spec.Variant{"mtu": "1500", "gro": "off"}
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			plot, last, at := 0.0, "", -1
			trials := levelsTrials(plan, rng, func(block, _ int, v spec.Variant, _ string) float64 {
				if v["mtu"] != last || !stays && block != at {
					plot = 0.05 * rng.NormFloat64()
				}
				last, at = v["mtu"], block
				return plot + 0.01*rng.NormFloat64()
			})
			g, err := newGrid(&plan, trials)
			if err != nil {
				t.Fatal(err)
			}
			h := g.headlines()[0]
			r := g.row(h.test, h.Definition, mainEffects(&plan, g.variants)[0])
			if p, _ := stats.SignFlip([][]float64{r.differences}, 1); p[0] < familyLevel {
				alarms[stays]++
			}
		}
	}
	t.Logf("of %d: made anew %d, where it stays %d", runs, alarms[false], alarms[true])
	// 5% of 500 and three standard deviations.
	if alarms[false] > 40 {
		t.Errorf("%d false alarms of %d where each block makes the setting anew", alarms[false], runs)
	}
	if alarms[true] < 35 || alarms[true] > 80 {
		t.Errorf("%d false alarms of %d where it stays: the documentation says 11%%", alarms[true], runs)
	}
}
