// Package storetest is what every backend of a store has to pass.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// Run runs the suite. open returns an empty store, which the suite closes.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"a run is read back whole", runIsReadBack},
		{"trials are read back whole and in order", trialsAreReadBack},
		{"trials can be read while others are added", readWhileAdded},
		{"reading can stop", readingStops},
		{"finish", finish},
		{"a finished run stays as it is", finishedStays},
		{"find", find},
		{"find: a whole id before a label before an id's beginning", findOrder},
		{"list", list},
		{"tally", tally},
		{"relabel", relabel},
		{"remove", remove},
		{"baselines", baselines},
		{"a baseline's run is not removed", baselineStays},
		{"baselines: what is refused", baselinesRefused},
		{"what is invalid is refused whole", invalid},
		{"what is not there", notThere},
		{"a context that is over", contextOver},
		{"callers share no memory with the store", noSharing},
		{"many at once", manyAtOnce},
		{"closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			c.test(t, s)
		})
	}
}

func runIsReadBack(t *testing.T, s store.Store) {
	for _, run := range []result.Run{
		NewRun("old", 0),
		{ID: store.NewID(), Start: start}, // as little as can be
	} {
		if err := s.Begin(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		run.Schema, run.State = result.RunSchema, result.Running
		checkRun(t, s, run)
	}
}

// checkRun fails the test unless the store has the run like that.
func checkRun(t *testing.T, s store.Store, want result.Run) {
	t.Helper()
	got, err := s.Find(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]result.Run{want}, got, Same); d != "" {
		t.Fatalf("the run differs (-want +got):\n%s", d)
	}
}

func trialsAreReadBack(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	other := Begin(t, s, "other", 1)
	CheckTrials(t, s, run.ID, nil)
	want := NewTrials(0, 300)
	slices.Reverse(want) // the order is that of adding, not that of running
	for i, n := 0, 1; i < len(want); i, n = i+n, n*3%100 {
		n = min(n, len(want)-i)
		must(t, s.Append(t.Context(), run.ID, want[i:i+n]...))
		must(t, s.Append(t.Context(), other.ID, NewTrial(i)))
	}
	must(t, s.Append(t.Context(), run.ID)) // none at all
	CheckTrials(t, s, run.ID, want)
}

func readWhileAdded(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	want := NewTrials(0, 200)
	must(t, s.Append(t.Context(), run.ID, want...))
	var got []result.Trial
	for trial, err := range s.Trials(t.Context(), run.ID) {
		must(t, err)
		got = append(got, trial)
		must(t, s.Append(t.Context(), run.ID, NewTrial(1000)))
	}
	if d := cmp.Diff(want, got, Same); d != "" {
		t.Errorf("read while others were added, the trials differ:\n%s", d)
	}
	all, err := store.Collect(t.Context(), s, run.ID)
	must(t, err)
	if len(all) != 2*len(want) {
		t.Errorf("%d trials afterwards, want %d", len(all), 2*len(want))
	}
}

func readingStops(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, NewTrials(0, 200)...))
	for range 20 { // more often than any pool has connections
		n := 0
		for _, err := range s.Trials(t.Context(), run.ID) {
			must(t, err)
			if n++; n == 3 {
				break
			}
		}
		if n != 3 {
			t.Fatalf("read %d trials, want 3", n)
		}
	}
}

func finish(t *testing.T, s store.Store) {
	for _, state := range []result.State{result.Complete, result.Partial, result.Failed} {
		run := Begin(t, s, string(state), 0)
		more := result.Warning{Code: "interrupted", Text: "ended by the user"}
		run.State, run.End = state, run.Start.Add(-time.Second) // a clock may be set back
		must(t, s.Finish(t.Context(), run.ID, run.State, run.End, []result.Warning{more}))
		run.Warnings = append(run.Warnings, more)
		checkRun(t, s, run)
	}
	run := Begin(t, s, "", 0)
	for _, state := range []result.State{result.Running, "", "done"} {
		if err := s.Finish(t.Context(), run.ID, state, run.Start, nil); err == nil {
			t.Errorf("finished in state %q", state)
		}
	}
	checkRun(t, s, run)
}

func finishedStays(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	want := NewTrials(0, 2)
	must(t, s.Append(t.Context(), run.ID, want...))
	run.State, run.End = result.Complete, run.Start.Add(time.Minute)
	must(t, s.Finish(t.Context(), run.ID, run.State, run.End, nil))
	wantErr(t, s.Append(t.Context(), run.ID, NewTrial(2)), store.ErrFinished)
	wantErr(t, s.Finish(t.Context(), run.ID, result.Failed, run.End, nil), store.ErrFinished)
	checkRun(t, s, run)
	CheckTrials(t, s, run.ID, want)
}

func relabel(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, NewTrial(0)))
	for _, label := range []string{"older", "", "with blanks and ü"} {
		must(t, s.Relabel(t.Context(), run.ID, label))
		run.Label = label
		checkRun(t, s, run)
	}
	run.State, run.End = result.Complete, run.Start.Add(time.Minute)
	must(t, s.Finish(t.Context(), run.ID, run.State, run.End, nil))
	must(t, s.Relabel(t.Context(), run.ID, "new"))
	run.Label = "new"
	checkRun(t, s, run)
	_, err := s.Find(t.Context(), "old")
	wantErr(t, err, store.ErrNotFound)
}

func remove(t *testing.T, s store.Store) {
	a, b, c := Begin(t, s, "a", 0), Begin(t, s, "b", 1), Begin(t, s, "c", 2)
	for _, run := range []result.Run{a, b, c} {
		must(t, s.Append(t.Context(), run.ID, NewTrials(0, 10)...))
	}
	wantErr(t, s.Remove(t.Context(), a.ID), store.ErrRunning)
	for _, run := range []result.Run{a, b} {
		must(t, s.Finish(t.Context(), run.ID, result.Partial, run.Start, nil))
	}
	wantErr(t, s.Remove(t.Context(), a.ID, "0000000000"), store.ErrNotFound)
	wantErr(t, s.Remove(t.Context(), a.ID, c.ID), store.ErrRunning)
	CheckTrials(t, s, a.ID, NewTrials(0, 10))

	must(t, s.Remove(t.Context(), a.ID, b.ID, a.ID))
	must(t, s.Remove(t.Context()))
	_, err := s.Find(t.Context(), a.ID)
	wantErr(t, err, store.ErrNotFound)
	_, err = store.Collect(t.Context(), s, a.ID)
	wantErr(t, err, store.ErrNotFound)
	wantErr(t, s.Remove(t.Context(), a.ID), store.ErrNotFound)
	CheckTrials(t, s, c.ID, NewTrials(0, 10))

	must(t, s.Begin(t.Context(), a)) // the id is free again, and nothing of the old run comes back
	CheckTrials(t, s, a.ID, nil)
}

func invalid(t *testing.T, s store.Store) {
	run := NewRun("two\nlines", 0)
	if err := s.Begin(t.Context(), run); err == nil {
		t.Error("a label of two lines was taken")
	}
	run.Label = "old"
	must(t, s.Begin(t.Context(), run))
	wantErr(t, s.Begin(t.Context(), run), store.ErrExists)
	trials := NewTrials(0, 3)
	trials[2].Block = -1
	if err := s.Append(t.Context(), run.ID, trials...); err == nil {
		t.Error("a trial of block -1 was taken")
	}
	if err := s.Relabel(t.Context(), run.ID, "\x00"); err == nil {
		t.Error("a label with a zero byte was taken")
	}
	checkRun(t, s, run)
	CheckTrials(t, s, run.ID, nil)
}

func notThere(t *testing.T, s store.Store) {
	const id = "0000000000"
	_, tallyErr := s.Tally(t.Context(), id)
	_, trialsErr := store.Collect(t.Context(), s, id)
	for what, err := range map[string]error{
		"append":  s.Append(t.Context(), id, NewTrial(0)),
		"finish":  s.Finish(t.Context(), id, result.Complete, start, nil),
		"relabel": s.Relabel(t.Context(), id, "x"),
		"remove":  s.Remove(t.Context(), id),
		"tally":   tallyErr,
		"trials":  trialsErr,

		"set baseline":    s.SetBaseline(t.Context(), "x", id),
		"remove baseline": s.RemoveBaseline(t.Context(), "x"),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
}

func contextOver(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, NewTrials(0, 300)...))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Trials(ctx, run.ID) {
		if last = err; err != nil {
			break
		}
		n++
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n >= 300 {
		t.Errorf("reading went on for %d trials to %v after its context was over", n, last)
	}
	wantErr(t, s.Append(ctx, run.ID, NewTrial(300)), context.Canceled)
	wantErr(t, s.Begin(ctx, NewRun("new", 1)), context.Canceled)
	_, err := s.Runs(ctx, store.Filter{})
	wantErr(t, err, context.Canceled)
	CheckTrials(t, s, run.ID, NewTrials(0, 300))
}

func noSharing(t *testing.T, s store.Store) {
	run := NewRun("old", 0)
	must(t, s.Begin(t.Context(), run))
	trial := NewTrial(0)
	must(t, s.Append(t.Context(), run.ID, trial))
	trial.Local.Counts["sent"] = -1
	trial.Local.RTT.Record(1)
	trial.Variant["rx"] = "changed"
	run.Environments[0].Facts[0].Value = "changed"
	run.Plan.Tests[0].Name = "changed"
	CheckTrials(t, s, run.ID, NewTrials(0, 1))
	groups, err := s.Tally(t.Context(), run.ID)
	must(t, err)
	groups[0].Variant["rx"] = "changed"
	want := NewRun("old", 0)
	want.ID = run.ID
	checkRun(t, s, want)
	groups, err = s.Tally(t.Context(), run.ID)
	must(t, err)
	if groups[0].Variant["rx"] != "softirq" {
		t.Error("the tally's variant is the caller's")
	}
}

func manyAtOnce(t *testing.T, s store.Store) {
	const runs, trials = 4, 12
	var all sync.WaitGroup
	ids := make([]string, runs)
	errs := make(chan error, 2*runs)
	for i := range runs {
		ids[i] = Begin(t, s, "many", i).ID
		all.Go(func() {
			for n := range trials {
				if err := s.Append(t.Context(), ids[i], NewTrial(n)); err != nil {
					errs <- fmt.Errorf("append to run %d: %w", i, err)
					return
				}
			}
			if err := s.Finish(t.Context(), ids[i], result.Complete, start, nil); err != nil {
				errs <- err
			}
		})
		all.Go(func() {
			for {
				got, err := store.Collect(t.Context(), s, ids[i])
				if err != nil {
					errs <- fmt.Errorf("read run %d: %w", i, err)
					return
				}
				if d := cmp.Diff(NewTrials(0, len(got)), got, Same); d != "" {
					errs <- fmt.Errorf("run %d has not the trials that were added first:\n%s", i, d)
					return
				}
				if len(got) == trials {
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func closed(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, NewTrial(0)))
	must(t, s.Close())
	must(t, s.Close()) // again is no error
	_, findErr := s.Find(t.Context(), run.ID)
	_, runsErr := s.Runs(t.Context(), store.Filter{})
	_, tallyErr := s.Tally(t.Context(), run.ID)
	_, trialsErr := store.Collect(t.Context(), s, run.ID)
	_, baselinesErr := s.Baselines(t.Context())
	for what, err := range map[string]error{
		"begin":   s.Begin(t.Context(), NewRun("", 0)),
		"append":  s.Append(t.Context(), run.ID, NewTrial(0)),
		"finish":  s.Finish(t.Context(), run.ID, result.Complete, start, nil),
		"relabel": s.Relabel(t.Context(), run.ID, ""),
		"remove":  s.Remove(t.Context(), run.ID),
		"find":    findErr,
		"runs":    runsErr,
		"tally":   tallyErr,
		"trials":  trialsErr,

		"set baseline":    s.SetBaseline(t.Context(), "x", run.ID),
		"baselines":       baselinesErr,
		"remove baseline": s.RemoveBaseline(t.Context(), "x"),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", what, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want the error %q", err, want)
	} else if strings.Contains(err.Error(), "\n") {
		t.Errorf("an error of several lines: %q", err)
	}
}
