// Package store keeps what was measured: runs and their raw trials, whole
// histograms included. It says what a store does, in one interface and its
// errors; the backends are packages of their own, and package storetest is
// what each of them has to pass.
package store

import (
	"context"
	"iter"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Store keeps runs. All methods may be called from several goroutines, and
// several processes may have one store open.
//
// A failed call changes nothing: it does all of what it says or none of it.
// Errors fit one of this package's by errors.Is, or say that the arguments
// are not valid. A call that its context ends early fails with the context's
// error; whoever wants a trial kept although the user wants to stop gives a
// context without that cancellation.
type Store interface {
	// Begin makes a run to which trials can be added. The state is Running,
	// whatever the record says. ErrExists if the id is taken.
	Begin(ctx context.Context, run result.Run) error

	// Append adds trials to a run, all or none. Once it has returned they are
	// durable: neither the death of the process by any signal nor a crash of
	// the system loses them. ErrNotFound, or ErrFinished if the run is over.
	Append(ctx context.Context, id string, trials ...result.Trial) error

	// Finish ends a run that is Running in another state, and adds warnings.
	// ErrNotFound, or ErrFinished if it is over already.
	Finish(ctx context.Context, id string, state result.State, end time.Time, warnings []result.Warning) error

	// Relabel gives a run, in whatever state, another label. ErrNotFound.
	Relabel(ctx context.Context, id, label string) error

	// SetBaseline gives a run a name of its own, as CheckBaseline allows them; a
	// run that had the name before has it no longer. ErrNotFound, or ErrRunning
	// if the run is known to be still measured.
	SetBaseline(ctx context.Context, name, id string) error

	// Baselines returns all of them, by name.
	Baselines(ctx context.Context) ([]Baseline, error)

	// RemoveBaseline forgets a name; its run stays. ErrNotFound.
	RemoveBaseline(ctx context.Context, name string) error

	// Find returns the runs that a user means by ref, newest first: the one that
	// is the baseline "@NAME"; or the one with that id; or else all of that
	// label, which are repetitions; or else the one whose id begins so.
	// ErrNotFound names the labels nearest to it, ErrAmbiguous the ids that begin
	// so.
	Find(ctx context.Context, ref string) ([]result.Run, error)

	// Runs returns the runs that pass the filter, newest first.
	Runs(ctx context.Context, f Filter) ([]result.Run, error)

	// Tally says how many trials of what a run has, in the order in which
	// test and variant first came. ErrNotFound.
	Tally(ctx context.Context, id string) ([]Group, error)

	// Trials yields a run's trials in the order in which they were added, as
	// they were when it was called. A record that can't be read yields an
	// error in its place; the loop may go on to the next. ErrNotFound.
	Trials(ctx context.Context, id string) iter.Seq2[result.Trial, error]

	// Remove deletes runs with all their trials. ErrNotFound if one is not
	// there, ErrRunning if one is known to be still measured, ErrBaseline if one
	// is a baseline: its name has to be removed first.
	Remove(ctx context.Context, ids ...string) error

	// Close releases the store. Runs that are not finished stay as they are,
	// and read as Partial from then on.
	Close() error
}

// Filter chooses runs. The zero Filter chooses all.
type Filter struct {
	Label string    // exactly this label, if not empty
	Since time.Time // started then or later, if not zero
	Limit int       // at most so many, the newest; all if not above 0
}

// Group is the trials of one test under one variant.
type Group struct {
	Test    spec.Test
	Variant spec.Variant
	Trials  int
}

// CutOff is the warning that a store adds to a run that was never finished
// and that nobody measures any more. Such a run reads as Partial.
func CutOff() result.Warning {
	return result.Warning{
		Code: "cut_off",
		Text: "the program that measured this run ended without finishing it; what it had measured is kept",
	}
}

// Unreadable is the warning of a run whose record is damaged: its id, label and
// start are all that is known of it.
func Unreadable() result.Warning {
	return result.Warning{
		Code:   "unreadable",
		Text:   "the record of this run is damaged",
		Advice: "remove it by its id (netdelta rm ID)",
	}
}

// Latest returns the newest of the runs that ref means.
func Latest(ctx context.Context, s Store, ref string) (result.Run, error) {
	runs, err := s.Find(ctx, ref)
	if err != nil {
		return result.Run{}, err
	}
	return runs[0], nil
}

// Collect returns all trials of a run, or the first error and the trials
// before it.
func Collect(ctx context.Context, s Store, id string) ([]result.Trial, error) {
	var all []result.Trial
	for t, err := range s.Trials(ctx, id) {
		if err != nil {
			return all, err
		}
		all = append(all, t)
	}
	return all, nil
}
