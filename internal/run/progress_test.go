package run

import (
	"testing"
	"time"
)

func TestLeft(t *testing.T) {
	const length = 200 * time.Millisecond
	for _, c := range []struct {
		name        string
		done, total int
		elapsed     time.Duration
		want        time.Duration
	}{
		{"nothing known", 0, 10, 0, 10 * (length + firstGuess)},
		{"no overhead", 5, 10, 5 * length, 5 * length},
		{"some", 4, 10, 4 * (length + 50*time.Millisecond), 6 * (length + 50*time.Millisecond)},
		{"a clock that lags", 5, 10, 4 * length, 5 * length},
		{"all done", 10, 10, time.Hour, 0},
	} {
		if got := left(c.done, c.total, c.elapsed, length); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		// One trial is repeated; with the bubble's clock nothing else takes
		// time but warm-up and window.
		b.fail = at("a run", 3, errBroken)
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		const total, length = 12, 200 * time.Millisecond
		var want []Progress
		done := 0
		add := func(block int, variant, test string, attempt int) {
			p := Progress{Done: done, Total: total, Block: block, Blocks: 3, Variant: variant, Test: test, Attempt: attempt,
				Elapsed: time.Duration(done) * length}
			if p.Left = time.Duration(total-done) * length; done == 0 {
				p.Left += total * firstGuess
			}
			want = append(want, p)
		}
		for _, s := range b.cfg.Plan.Schedule() {
			for _, test := range s.Tests {
				add(s.Block, "rx="+s.Variant["rx"], test.String(), 1)
				if done == 2 {
					add(s.Block, "rx="+s.Variant["rx"], test.String(), 2)
				}
				done++
			}
		}
		add(2, "", "", 0)
		if len(b.shown) != len(want) {
			t.Fatalf("told %d times, want %d", len(b.shown), len(want))
		}
		for i := range want {
			if b.shown[i] != want[i] {
				t.Errorf("%d: got %+v, want %+v", i, b.shown[i], want[i])
			}
		}
	})
}
