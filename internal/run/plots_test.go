package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/spec"
)

// Each whole plot sets its slow level anew, by way of another one where the plot
// before had the same, tests beside in between or not; what is not slow, and a path that
// is new anyway, do not.
func TestSlowLevelsAreMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name                string
		slow, fresh, beside bool
	}{{"slow", true, false, false}, {"not slow", false, false, false}, {"a fresh path", true, true, false}, {"with tests beside", true, false, true}} {
		t.Run(c.name, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				tuned(b, []spec.Setting{setting(spec.EndRemote, "1500")}, []spec.Setting{setting(spec.EndRemote, "9000")})
				b.cfg.Plan.Factors[0].Slow = c.slow
				b.cfg.Plan.Blocks = 6
				if c.beside {
					waking(t, b)
					b.cfg.Plan.Blocks = 12
				}
				b.path = func(p *Path) { p.Fresh = c.fresh }
				if err := Run(t.Context(), b.cfg); err != nil {
					t.Fatal(err)
				}
				var want []string
				last, again, beside := "", 0, 0
				between := false // a slot beside since the last one
				other := map[string]string{"softirq": "9000", "kthread": "1500"}
				own := map[string]string{"softirq": "1500", "kthread": "9000"}
				for _, s := range b.cfg.Plan.Schedule() {
					if s.Beside {
						between = true
						continue
					}
					level := s.Variant["rx"]
					if c.slow && !c.fresh && level == last {
						want = append(want, "b set mtu="+other[level])
						again++
						if between {
							beside++
						}
					}
					between = false
					want = append(want, "b set mtu="+own[level])
					if c.fresh {
						want = append(want, "b restore")
					}
					last = level
				}
				if !c.fresh {
					want = append(want, "b restore")
				}
				if c.slow && !c.fresh && again == 0 {
					t.Fatal("no plot of this seed begins as the one before ended: nothing is tested")
				}
				if c.beside && beside == 0 {
					t.Fatal("no slot beside of this seed is between two such plots: nothing is tested")
				}
				if d := cmp.Diff(want, of("b", b.log)); d != "" {
					t.Errorf("steps (-want +got)\n%s", d)
				}
			})
		})
	}
}

// A level that is a boot ends its session. On the way to the level that is to be made
// anew that is no attempt of the trial's, which has its own two.
func TestDetourByBoot(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{setting(spec.EndRemote, "1500")}, []spec.Setting{setting(spec.EndRemote, "9000")})
		b.cfg.Plan.Factors[0].Slow = true
		b.cfg.Plan.Blocks = 6
		b.cfg.Patience = 20 * time.Second
		runs := ""
		b.fail = func(step string, _ int) error {
			if strings.HasPrefix(step, "b set ") && step != runs {
				runs = step
				b.cut["b"].cut(false)
			}
			return nil
		}
		if err := Run(t.Context(), b.cfg); err != nil || len(b.trials) != b.cfg.Plan.Trials() {
			t.Fatalf("%d trials, %v", len(b.trials), err)
		}
		for _, x := range b.trials {
			if x.Attempt != 2 {
				t.Errorf("block %d, %v: attempt %d, want each to be that after its boot", x.Block, x.Variant, x.Attempt)
			}
		}
	})
}
