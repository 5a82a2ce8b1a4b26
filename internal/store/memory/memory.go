// Package memory is a store that lasts as long as the process: for tests of
// what uses a store.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// Store implements store.Store. The zero Store is empty and ready to use.
type Store struct {
	mu     sync.Mutex
	runs   map[string]*run
	names  map[string]string // of baselines, to the ids of their runs
	begun  int
	closed bool
}

var _ store.Store = (*Store)(nil)

// run keeps its trials encoded, so that no caller shares memory with it.
type run struct {
	place  int // in the order in which runs were begun
	record []byte
	trials [][]byte
	groups []store.Group
}

// New returns an empty store.
func New() *Store { return &Store{} }

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, r result.Run) error {
	r.State = result.Running
	record, err := result.EncodeRun(r)
	if err != nil {
		return err
	}
	return s.locked(ctx, func() error {
		if s.runs[r.ID] != nil {
			return fmt.Errorf("begin run %s: %w", r.ID, store.ErrExists)
		}
		if s.runs == nil {
			s.runs = map[string]*run{}
		}
		s.begun++
		s.runs[r.ID] = &run{place: s.begun, record: record}
		return nil
	})
}

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, id string, trials ...result.Trial) error {
	if len(trials) == 0 {
		return nil
	}
	records := make([][]byte, len(trials))
	for i, t := range trials {
		var err error
		if records[i], err = result.Encode(t); err != nil {
			return err
		}
	}
	return s.locked(ctx, func() error {
		r, err := s.unfinished(id)
		if err != nil {
			return err
		}
		r.trials = append(r.trials, records...)
		for _, t := range trials {
			r.count(t)
		}
		return nil
	})
}

func (r *run) count(t result.Trial) {
	i := slices.IndexFunc(r.groups, func(g store.Group) bool { return g.Test == t.Test && maps.Equal(g.Variant, t.Variant) })
	if i < 0 {
		i = len(r.groups)
		r.groups = append(r.groups, store.Group{Test: t.Test, Variant: maps.Clone(t.Variant)})
	}
	r.groups[i].Trials++
}

// Finish implements store.Store.
func (s *Store) Finish(ctx context.Context, id string, state result.State, end time.Time, warnings []result.Warning) error {
	if state == result.Running {
		return errors.New("a run can't be finished as running")
	}
	return s.locked(ctx, func() error {
		r, err := s.unfinished(id)
		if err != nil {
			return err
		}
		return r.change(func(x *result.Run) {
			x.State, x.End = state, end
			x.Warnings = slices.Concat(x.Warnings, warnings)
		})
	})
}

// Relabel implements store.Store.
func (s *Store) Relabel(ctx context.Context, id, label string) error {
	return s.locked(ctx, func() error {
		r, err := s.find(id)
		if err != nil {
			return err
		}
		return r.change(func(x *result.Run) { x.Label = label })
	})
}

// Find implements store.Store.
func (s *Store) Find(ctx context.Context, ref string) (runs []result.Run, err error) {
	err = s.locked(ctx, func() error {
		runs, err = store.Resolve(ctx, index{s}, ref)
		return err
	})
	return runs, err
}

// Runs implements store.Store.
func (s *Store) Runs(ctx context.Context, f store.Filter) (runs []result.Run, err error) {
	err = s.locked(ctx, func() error {
		runs, err = s.newest(f.Limit, func(r result.Run) bool {
			return (f.Label == "" || r.Label == f.Label) && !r.Start.Before(f.Since)
		})
		return err
	})
	return runs, err
}

// Tally implements store.Store.
func (s *Store) Tally(ctx context.Context, id string) (groups []store.Group, err error) {
	err = s.locked(ctx, func() error {
		r, err := s.find(id)
		if err != nil {
			return err
		}
		for _, g := range r.groups {
			g.Variant = maps.Clone(g.Variant)
			groups = append(groups, g)
		}
		return nil
	})
	return groups, err
}

// Trials implements store.Store.
func (s *Store) Trials(ctx context.Context, id string) iter.Seq2[result.Trial, error] {
	return func(yield func(result.Trial, error) bool) {
		var records [][]byte
		err := s.locked(ctx, func() error {
			r, err := s.find(id)
			if err != nil {
				return err
			}
			records = slices.Clone(r.trials)
			return nil
		})
		if err != nil {
			yield(result.Trial{}, err)
			return
		}
		for _, record := range records {
			if err := ctx.Err(); err != nil {
				yield(result.Trial{}, err)
				return
			}
			if !yield(result.Decode(record)) {
				return
			}
		}
	}
}

// Remove implements store.Store.
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	return s.locked(ctx, func() error {
		for _, id := range ids {
			r, err := s.find(id)
			if err != nil {
				return err
			}
			if x, err := r.decode(); err == nil && x.State == result.Running {
				return fmt.Errorf("remove run %s: %w", id, store.ErrRunning)
			}
			for _, name := range slices.Sorted(maps.Keys(s.names)) {
				if s.names[name] == id {
					return store.IsBaseline(id, name)
				}
			}
		}
		for _, id := range ids {
			delete(s.runs, id)
		}
		return nil
	})
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// locked calls f with the store locked, unless it is closed or ctx over.
func (s *Store) locked(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

func (s *Store) find(id string) (*run, error) {
	if r := s.runs[id]; r != nil {
		return r, nil
	}
	return nil, &store.NotFoundError{Ref: id}
}

func (s *Store) unfinished(id string) (*run, error) {
	r, err := s.find(id)
	if err != nil {
		return nil, err
	}
	x, err := r.decode()
	if err == nil && x.State != result.Running {
		return nil, fmt.Errorf("run %s: %w: it is %s", id, store.ErrFinished, x.State)
	}
	return r, err
}

func (r *run) decode() (result.Run, error) { return result.DecodeRun(r.record) }

func (r *run) change(f func(*result.Run)) error {
	x, err := r.decode()
	if err != nil {
		return err
	}
	f(&x)
	record, err := result.EncodeRun(x)
	if err != nil {
		return err
	}
	r.record = record
	return nil
}

// newest returns at most limit runs (all if not above 0) that pass, the newest
// first; of two that began at the same time, the one begun later.
func (s *Store) newest(limit int, pass func(result.Run) bool) ([]result.Run, error) {
	type placed struct {
		run   result.Run
		place int
	}
	var found []placed
	for _, r := range s.runs {
		x, err := r.decode()
		if err != nil {
			return nil, err
		}
		if pass(x) {
			found = append(found, placed{x, r.place})
		}
	}
	slices.SortFunc(found, func(a, b placed) int {
		return cmp.Or(b.run.Start.Compare(a.run.Start), cmp.Compare(b.place, a.place))
	})
	if limit > 0 && limit < len(found) {
		found = found[:limit]
	}
	var runs []result.Run
	for _, p := range found {
		runs = append(runs, p.run)
	}
	return runs, nil
}

// index is the locked store as store.Resolve sees it.
type index struct{ s *Store }

func (x index) ByIDPrefix(_ context.Context, prefix string, limit int) ([]result.Run, error) {
	return x.s.newest(limit, func(r result.Run) bool { return strings.HasPrefix(r.ID, prefix) })
}

func (x index) ByLabel(_ context.Context, label string) ([]result.Run, error) {
	return x.s.newest(0, func(r result.Run) bool { return r.Label == label })
}

func (x index) Labels(context.Context) ([]string, error) {
	runs, err := x.s.newest(0, func(r result.Run) bool { return r.Label != "" })
	labels := map[string]bool{}
	for _, r := range runs {
		labels[r.Label] = true
	}
	return slices.Sorted(maps.Keys(labels)), err
}
