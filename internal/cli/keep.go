package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
)

// keeper keeps the trials of a run as they come. What the store does not take
// it holds on to, tries again with the next trial, and says so: figures that
// were measured are worth more than a store that works.
type keeper struct {
	store   store.Store // nil: nothing is kept
	path    string      // of the store, for messages
	wanted  bool        // the user wants the run kept
	rescued string      // the file that has the run instead of the store
	begun   bool
	run     result.Run
	trials  []result.Trial // all
	pending []result.Trial // those that the store does not have
	failure error          // the store's latest
	stderr  io.Writer
}

// openKeeper opens the store for a run. One that can't be written now is no
// reason not to measure: it is told at once, and again at the end.
func openKeeper(ctx context.Context, path string, stderr io.Writer) (*keeper, error) {
	k := &keeper{wanted: true, path: path, stderr: stderr}
	if err := k.open(ctx); err != nil {
		if !survivable(err) {
			return nil, storeFailed(err)
		}
		k.failed(err)
	}
	return k, nil
}

// open opens the store for writing.
func (k *keeper) open(ctx context.Context) error {
	s, err := sqlite.Open(ctx, k.path, sqlite.Options{})
	if err != nil {
		return err
	}
	if err := s.ReadOnly(); err != nil {
		s.Close()
		return err
	}
	k.store, k.path = s, s.Path()
	return nil
}

// survivable says that the store is where it should be, and that only its disk
// or another process is in the way.
func survivable(err error) bool {
	for _, e := range []error{store.ErrReadOnly, store.ErrFull, store.ErrDisk, store.ErrBusy} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// failed takes note of a failure of the store, and tells the first of a row.
func (k *keeper) failed(err error) {
	if k.failure == nil {
		fmt.Fprintf(k.stderr, "netdelta: %s; measuring goes on, and the figures will be printed\n", oneLine(err.Error()))
	}
	k.failure = err
}

// begin makes the run's record. The trials of a record that could not be made
// are held like others.
func (k *keeper) begin(ctx context.Context, run result.Run) {
	k.run = run
	k.write(ctx)
}

// add keeps a trial. It never fails: a run goes on without a store.
func (k *keeper) add(ctx context.Context, t result.Trial) error {
	k.trials = append(k.trials, t)
	k.pending = append(k.pending, t)
	k.write(ctx)
	return nil
}

// write gives the store what it does not have yet. An interrupt does not keep
// it from that.
func (k *keeper) write(ctx context.Context) {
	if !k.wanted {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if k.store == nil {
		if err := k.open(ctx); err != nil {
			k.failed(err)
			return
		}
	}
	if !k.begun {
		if err := k.store.Begin(ctx, k.run); err != nil {
			k.failed(err)
			return
		}
		k.begun = true
	}
	err := k.store.Append(ctx, k.run.ID, k.pending...)
	if err == nil {
		k.pending, k.failure = nil, nil
		return
	}
	k.failed(err)
	if survivable(err) {
		return
	}
	// It is a trial that the store refuses: it must not keep out the others.
	k.pending = slices.DeleteFunc(k.pending, func(t result.Trial) bool {
		return k.store.Append(ctx, k.run.ID, t) == nil
	})
	if len(k.pending) == 0 {
		k.failure = nil
	}
}

// rescue writes the run into a file of its own if the store does not have all
// of it, so that nothing that was measured is lost with this process.
func (k *keeper) rescue() {
	if !k.wanted || len(k.trials) == 0 || (k.begun && len(k.pending) == 0) {
		return
	}
	data, err := result.EncodeExport(k.run, k.trials)
	if err != nil {
		k.failed(err)
		return
	}
	f, err := os.CreateTemp("", "netdelta-"+k.run.ID+"-*.json")
	if err != nil {
		k.failed(fmt.Errorf("%w; nor could a file be made in its place: %w", k.failure, err))
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		k.failed(fmt.Errorf("%w; nor could a file be written in its place: %w", k.failure, err))
		return
	}
	k.rescued = f.Name()
}

// finish ends the run's record. A run without a trial leaves none.
func (k *keeper) finish(ctx context.Context, state result.State, warnings []result.Warning) {
	k.run.State, k.run.End = state, time.Now()
	k.run.Warnings = append(k.run.Warnings, warnings...)
	k.write(ctx)
	if !k.begun {
		return
	}
	if n := len(k.pending); n > 0 {
		// The store's run is less than the one that was measured.
		state = result.Partial
		warnings = append(slices.Clone(warnings), result.Warning{Code: "not_kept",
			Text: fmt.Sprintf("%d of %d trials are missing: the store could not take them", n, len(k.trials))})
	}
	ctx = context.WithoutCancel(ctx)
	if err := k.store.Finish(ctx, k.run.ID, state, k.run.End, warnings); err != nil {
		k.failed(err)
		return
	}
	if len(k.trials) == 0 {
		if err := k.store.Remove(ctx, k.run.ID); err != nil {
			k.failed(err)
		}
	}
}

// kept says that the store has the run and all of its trials.
func (k *keeper) kept() bool {
	return k.begun && len(k.pending) == 0 && len(k.trials) > 0
}

// lost is what of the run is not kept although it should be; nil if nothing.
func (k *keeper) lost() error {
	if !k.wanted || k.failure == nil {
		return nil
	}
	n := len(k.pending)
	instead := ""
	if k.rescued != "" {
		instead = fmt.Sprintf("; the whole run is in %s, which netdelta compare reads", k.rescued)
	}
	switch {
	case len(k.trials) == 0:
		return k.failure
	case n == len(k.trials):
		return fmt.Errorf("the figures above are not kept: %w%s", k.failure, instead)
	case n > 0:
		return fmt.Errorf("%d of %d trials of run %s are not kept: %w%s", n, len(k.trials), k.run.ID, k.failure, instead)
	}
	return fmt.Errorf("run %s is kept, but not that it ended: %w", k.run.ID, k.failure)
}

// close gives the store back.
func (k *keeper) close() {
	if k.store == nil {
		return
	}
	if err := k.store.Close(); err != nil && k.failure == nil {
		k.failed(err)
	}
}
