package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// SetBaseline implements store.Store.
func (s *Store) SetBaseline(ctx context.Context, name, id string) error {
	if err := store.CheckBaseline(name); err != nil {
		return err
	}
	return s.locked(ctx, func() error {
		r, err := s.find(id)
		if err != nil {
			return err
		}
		if x, err := r.decode(); err == nil && x.State == result.Running {
			return fmt.Errorf("make run %s a baseline: %w", id, store.ErrRunning)
		}
		if s.names == nil {
			s.names = map[string]string{}
		}
		s.names[name] = id
		return nil
	})
}

// Baselines implements store.Store.
func (s *Store) Baselines(ctx context.Context) (all []store.Baseline, err error) {
	err = s.locked(ctx, func() error {
		for _, name := range slices.Sorted(maps.Keys(s.names)) {
			all = append(all, store.Baseline{Name: name, ID: s.names[name]})
		}
		return nil
	})
	return all, err
}

// RemoveBaseline implements store.Store.
func (s *Store) RemoveBaseline(ctx context.Context, name string) error {
	return s.locked(ctx, func() error {
		if _, ok := s.names[name]; !ok {
			return store.NoBaseline(name, slices.Sorted(maps.Keys(s.names)))
		}
		delete(s.names, name)
		return nil
	})
}

func (x index) ByBaseline(_ context.Context, name string) ([]result.Run, error) {
	id, ok := x.s.names[name]
	if !ok {
		return nil, nil
	}
	return x.s.newest(1, func(r result.Run) bool { return r.ID == id })
}

func (x index) BaselineNames(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(x.s.names)), nil
}
