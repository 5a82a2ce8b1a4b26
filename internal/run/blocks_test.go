package run

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// A run that is resumed anywhere has, with its earlier part, the trials that it
// would have had in one piece.
func TestResume(t *testing.T) {
	for _, had := range []int{1, 2, 4, 5, 12} {
		on(t, func(t *testing.T, b *bench) {
			first := b.cfg
			if err := Run(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			b.cfg.Done = slices.Clone(b.trials[:had])
			b.trials, b.log, b.shown = nil, nil, nil
			if err := Run(t.Context(), b.cfg); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(scheduled(b.cfg.Plan), append(keys(b.cfg.Done), keys(b.trials)...)); d != "" {
				t.Errorf("%d had: trials (-want +got)\n%s", had, d)
			}
			for i, tr := range b.trials {
				if tr.Order != had+i {
					t.Errorf("%d had: trial %d has order %d", had, i, tr.Order)
				}
			}
			applied := 0
			for _, l := range b.log {
				if strings.HasPrefix(l, "apply") {
					applied++
				}
			}
			if want := 6 - had/2; applied != want { // two tests a slot, six slots
				t.Errorf("%d had: %d paths, want %d", had, applied, want)
			}
			if p := b.shown[0]; p.Done != had || p.Total != 12 {
				t.Errorf("%d had: told %+v", had, p)
			}
			if last := b.shown[len(b.shown)-1]; last.Done != 12 || last.Left != 0 || last.Block != 2 {
				t.Errorf("%d had: told %+v at the end", had, last)
			}
		})
	}
}

// Trials of another plan are no earlier part of this one.
func TestResumeOfAnother(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		waking(t, b)
		for _, change := range []func(*result.Trial){
			func(x *result.Trial) { x.Block = 3 },
			func(x *result.Trial) { x.Variant = spec.Variant{"rx": "uthread"} },
			func(x *result.Trial) { x.Test = udpRR(t, 77) },
			// Tests beside have blocks, too, and no variant.
			func(x *result.Trial) { x.Block, x.Variant, x.Test = 3, nil, b.cfg.Plan.Beside[0] },
			func(x *result.Trial) { x.Block, x.Variant, x.Test = -1, nil, b.cfg.Plan.Beside[0] },
			func(x *result.Trial) { x.Test = b.cfg.Plan.Beside[0] },
		} {
			x := result.Trial{Variant: spec.Variant{"rx": "softirq"}, Test: b.cfg.Plan.Tests[0]}
			change(&x)
			b.cfg.Done = []result.Trial{x}
			if err := Run(t.Context(), b.cfg); err == nil || !strings.Contains(err.Error(), "none of this plan's") {
				t.Errorf("got %v", err)
			}
		}
		if len(b.log) > 0 {
			t.Errorf("did %v", b.log)
		}
	})
}

// Tests run with the parameters that the variant sets, and are told apart by them.
func TestUnder(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		tuned(b, []spec.Setting{{End: spec.EndBoth, Knob: "param.size", Value: "1"}}, []spec.Setting{{End: spec.EndBoth, Knob: "param.size", Value: "8"}})
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		for _, tr := range b.trials {
			want := map[string]int{"softirq": 1, "kthread": 8}[tr.Variant["rx"]]
			if tr.Test.RequestSize() != want {
				t.Errorf("%v ran %v", tr.Variant, tr.Test)
			}
		}
		b.cfg.Done = b.trials
		b.log = nil
		if err := Run(t.Context(), b.cfg); err != nil || len(b.log) > 0 {
			t.Errorf("with all done: %v, %q", err, b.log)
		}
	})
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*bench)
		blocks int
		want   Ending
		asked  []int
	}{
		{"whole", func(b *bench) {}, 3, EndedWhole, []int{1, 2, 3}},
		{"enough", func(b *bench) { b.cfg.Enough = until(b, 2) }, 2, EndedEnough, []int{1, 2}},
		{"enough at last", func(b *bench) { b.cfg.Enough = until(b, 3) }, 3, EndedEnough, []int{1, 2, 3}},
		// A block is four trials of 0.2 s, and of what looking at the CPUs takes.
		{"over at once", func(b *bench) { b.cfg.Plan.Limit = time.Millisecond }, 1, EndedLimit, []int{1}},
		{"over within the second", func(b *bench) { b.cfg.Plan.Limit = 900 * time.Millisecond }, 2, EndedLimit, []int{1, 2}},
		{"not over before the end", func(b *bench) { b.cfg.Plan.Limit = time.Hour }, 3, EndedWhole, []int{1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			on(t, func(t *testing.T, b *bench) {
				b.cfg.Enough = until(b, 99)
				c.change(b)
				var ended []Ending
				b.cfg.Ended = func(e Ending) { ended = append(ended, e) }
				if err := Run(t.Context(), b.cfg); err != nil {
					t.Fatal(err)
				}
				if len(b.trials) != 4*c.blocks || !slices.Equal(ended, []Ending{c.want}) || !slices.Equal(b.askedFor, c.asked) {
					t.Errorf("%d trials, ended %v, asked at %v", len(b.trials), ended, b.askedFor)
				}
				if last := b.shown[len(b.shown)-1]; last.Left != 0 || last.Block != c.blocks-1 || last.Test != "" {
					t.Errorf("told %+v at the end", last)
				}
			})
		})
	}
}

// until says enough from that number of blocks on, and keeps what it was asked.
func until(b *bench, enough int) func(int) bool {
	return func(n int) bool {
		b.askedFor = append(b.askedFor, n)
		return n >= enough
	}
}

// Blocks of an earlier part count.
func TestEnoughAfterAll(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		whole := b.cfg
		if err := Run(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		all := b.trials
		for _, c := range []struct {
			had, enough, ran int
			asked            []int
		}{{4, 2, 4, []int{1, 2}}, {6, 2, 2, []int{1, 2}}, {8, 2, 0, []int{2}}, {2, 1, 2, []int{1}}} {
			b.trials, b.askedFor = nil, nil
			b.cfg.Done = all[:c.had]
			b.cfg.Enough = until(b, c.enough)
			if err := Run(t.Context(), b.cfg); err != nil || len(b.trials) != c.ran || !slices.Equal(b.askedFor, c.asked) {
				t.Errorf("%d had: ran %d, asked at %v, %v", c.had, len(b.trials), b.askedFor, err)
			}
		}
	})
}

// A run that went wrong did not end in good order.
func TestNoEnding(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.cfg.Ended = func(e Ending) { t.Errorf("ended: %v", e) }
		b.fail = from("a run", 6, errBroken)
		if err := Run(t.Context(), b.cfg); !errors.Is(err, ErrStopped) {
			t.Errorf("got %v", err)
		}
	})
}
