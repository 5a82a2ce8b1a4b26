package run

import (
	"testing"
	"time"
)

func TestEach(t *testing.T) {
	const length = 200 * time.Millisecond
	for _, c := range []struct {
		name    string
		ran     int
		elapsed time.Duration
		want    time.Duration
	}{
		{"nothing known", 0, 0, length + firstGuess},
		{"no overhead", 5, 5 * length, length},
		{"some", 4, 4 * (length + 50*time.Millisecond), length + 50*time.Millisecond},
		{"a clock that lags", 5, 4 * length, length},
	} {
		if got := each(c.ran, c.elapsed, length); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		name                                      string
		limit, elapsed, all, inBlock, block, want time.Duration
	}{
		{"no limit", 0, 5, 100, 3, 10, 100},
		{"a limit beyond the end", 1000, 5, 100, 3, 10, 100},
		{"a limit in the block under way", 7, 5, 100, 3, 10, 3},
		{"at its end: the next one begins", 8, 5, 100, 3, 10, 13},
		{"in the middle of a later one", 33, 5, 100, 3, 10, 33},
		{"over", 4, 5, 100, 3, 10, 3},
		{"blocks of no length", 7, 5, 0, 0, 0, 0},
	} {
		if got := within(c.limit, c.elapsed, c.all, c.inBlock, c.block); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
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
