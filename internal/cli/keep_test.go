package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/store"
	"netdelta/internal/store/memory"
)

// moody is a store that fails when it is told to.
type moody struct {
	store.Store
	begin, add, finish error
}

func (m *moody) Begin(ctx context.Context, r result.Run) error {
	if m.begin != nil {
		return m.begin
	}
	return m.Store.Begin(ctx, r)
}

func (m *moody) Append(ctx context.Context, id string, trials ...result.Trial) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.add != nil {
		return m.add
	}
	return m.Store.Append(ctx, id, trials...)
}

func (m *moody) Finish(ctx context.Context, id string, s result.State, end time.Time, w []result.Warning) error {
	if m.finish != nil {
		return m.finish
	}
	return m.Store.Finish(ctx, id, s, end, w)
}

func newKeeper(t *testing.T) (*keeper, *moody, *strings.Builder) {
	t.Helper()
	m := &moody{Store: memory.New()}
	var said strings.Builder
	return &keeper{store: m, wanted: true, path: "x.db", stderr: &said}, m, &said
}

func someTrial(t *testing.T, block int) result.Trial {
	t.Helper()
	test, err := spec.NewTest("udp_rr", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Trial{Block: block, Order: block, Attempt: 1, Variant: spec.Variant{}, Test: test, Start: time.Now(),
		Local: result.End{Role: result.Local, Elapsed: time.Second, Messages: 1, Bytes: 2}}
}

func someRun() result.Run {
	return result.Run{ID: "0123456789", State: result.Running, Start: time.Now()}
}

// What the store has of the run.
func inStore(t *testing.T, s store.Store) (result.Run, int) {
	t.Helper()
	run, err := store.Latest(t.Context(), s, "0123456789")
	if errors.Is(err, store.ErrNotFound) {
		return result.Run{}, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	trials, err := store.Collect(t.Context(), s, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return run, len(trials)
}

func TestKeeper(t *testing.T) {
	full := &store.Error{Store: "x.db", Op: "append", Kind: store.ErrFull}
	for _, c := range []struct {
		name  string
		play  func(*keeper, *moody, func())
		state result.State
		kept  int
		lost  string // in the error; "" for none
		said  int    // lines
	}{
		{"all is well", func(k *keeper, m *moody, add func()) { add(); add() }, result.Complete, 2, "", 0},
		{"full for a while", func(k *keeper, m *moody, add func()) {
			add()
			m.add = full
			add()
			add()
			m.add = nil
			add()
		}, result.Complete, 4, "", 1},
		{"full to the end", func(k *keeper, m *moody, add func()) { add(); m.add = full; add(); add() },
			result.Partial, 1, "2 of 3 trials of run 0123456789 are not kept: store x.db: append: no space left", 1},
		{"full at the very end", func(k *keeper, m *moody, add func()) { add(); m.finish = full },
			result.Running, 1, "run 0123456789 is kept, but not that it ended: ", 1},
		{"full from the start", func(k *keeper, m *moody, add func()) { m.add = full; add() },
			result.Partial, 0, "the figures above are not kept: ", 1},
	} {
		k, m, said := newKeeper(t)
		k.begin(t.Context(), someRun())
		n := 0
		c.play(k, m, func() {
			if err := k.add(t.Context(), someTrial(t, n)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			n++
		})
		k.finish(t.Context(), result.Complete, nil)
		run, kept := inStore(t, m)
		if run.State != c.state || kept != c.kept || len(k.trials) != n {
			t.Errorf("%s: %s with %d trials, want %s with %d", c.name, run.State, kept, c.state, c.kept)
		}
		if got := k.kept(); got != (kept == n) {
			t.Errorf("%s: kept is %v with %d of %d trials", c.name, got, kept, n)
		}
		if err := k.lost(); (err == nil) != (c.lost == "") || err != nil && !strings.Contains(err.Error(), c.lost) {
			t.Errorf("%s: lost is %v, want %q", c.name, err, c.lost)
		}
		if got := strings.Count(said.String(), "\n"); got != c.said {
			t.Errorf("%s: %d lines, want %d: %s", c.name, got, c.said, said)
		}
	}
}

// A run that could not be begun is begun with its first trial.
func TestKeeperBeginsLater(t *testing.T) {
	k, m, _ := newKeeper(t)
	m.begin = store.ErrBusy
	k.begin(t.Context(), someRun())
	m.begin = nil
	k.add(t.Context(), someTrial(t, 0))
	k.finish(t.Context(), result.Complete, nil)
	if run, n := inStore(t, m); run.State != result.Complete || n != 1 || k.lost() != nil {
		t.Errorf("%s with %d trials, lost %v", run.State, n, k.lost())
	}
}

// An interrupt does not keep a trial from being kept, and a run without any
// leaves nothing.
func TestKeeperInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k, m, _ := newKeeper(t)
	k.begin(ctx, someRun())
	k.add(ctx, someTrial(t, 0))
	k.finish(ctx, result.Partial, nil)
	if run, n := inStore(t, m); run.State != result.Partial || n != 1 {
		t.Errorf("%s with %d trials", run.State, n)
	}
	k, m, _ = newKeeper(t)
	k.begin(ctx, someRun())
	k.finish(ctx, result.Partial, nil)
	if run, _ := inStore(t, m); run.ID != "" {
		t.Errorf("there is %+v", run)
	}
}

// Without a store there is nothing to lose.
func TestKeeperOfNothing(t *testing.T) {
	k := &keeper{}
	k.begin(t.Context(), someRun())
	k.add(t.Context(), someTrial(t, 0))
	k.finish(t.Context(), result.Complete, nil)
	if k.kept() || k.lost() != nil || len(k.trials) != 1 || k.run.State != result.Complete {
		t.Errorf("%+v", k)
	}
}
