package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// A run that may stop by precision is judged at 97% in every part: six blocks,
// whose smallest p is 3.1%, give no verdict, and nothing says that they could.
func TestLevelOfARunThatMayStop(t *testing.T) {
	for _, c := range []struct {
		blocks int
		judged bool
	}{{6, false}, {7, true}} {
		plan := streamPlan(t, c.blocks, "a", "b")
		plan.Precision = 0.02
		rng := rand.New(rand.NewPCG(1, 2))
		trials := levelsTrials(plan, rng, func(_, _ int, v spec.Variant, _ string) float64 {
			y := 0.001 * rng.NormFloat64()
			if v["rx"] == "b" {
				y += 0.2
			}
			return y
		})
		r := build(t, plan, trials, Options{})
		row := find(t, r.Comparisons, "b", "tcp_stream", "goodput")
		if judged := row.Verdict == Better; judged != c.judged {
			t.Errorf("%d blocks: %s", c.blocks, row.Verdict)
		}
		answer, few := r.Answer()[0], warned(&r, "few-blocks")
		if c.judged != (few == "") || c.judged == strings.Contains(answer, "no verdict from 6 blocks (7 are needed)") {
			t.Errorf("%d blocks: %q, warning %q", c.blocks, answer, few)
		}
		if !c.judged && (row.BlocksNeeded != 7 || !strings.Contains(few, "needs 7")) {
			t.Errorf("%d blocks needed, warning %q", row.BlocksNeeded, few)
		}
		if c.judged && !(row.Confidence >= stats.StoppedLevel) {
			t.Errorf("confidence %v", row.Confidence)
		}
	}
}

// What an unsure row needs is worked out at the level by which it will be judged.
func TestBlocksNeededAtTheLevel(t *testing.T) {
	needed := func(precision float64) int {
		plan := streamPlan(t, 12, "a", "b")
		plan.Precision = precision
		rng := rand.New(rand.NewPCG(4, 4))
		trials := levelsTrials(plan, rng, func(_, _ int, v spec.Variant, _ string) float64 { return 0.05 * rng.NormFloat64() })
		r := build(t, plan, trials, Options{})
		return find(t, r.Comparisons, "b", "tcp_stream", "goodput").BlocksNeeded
	}
	plain, stopped := needed(0), needed(0.02)
	if plain == 0 || float64(stopped) < 1.1*float64(plain) || float64(stopped) > 1.4*float64(plain) {
		t.Errorf("%d blocks at 95%%, %d at 97%%", plain, stopped)
	}
}
