package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// withBaselines is the schema's first version that has baselines. An older
// store that can only be read has none.
const withBaselines = 2

// SetBaseline implements store.Store.
func (s *Store) SetBaseline(ctx context.Context, name, id string) error {
	op := fmt.Sprintf("make run %s the baseline %q", id, name)
	if err := store.CheckBaseline(name); err != nil {
		return s.failed(op, err)
	}
	return s.update(ctx, op, func(tx *sql.Tx) error {
		run, err := findRow(tx, id)
		if err != nil {
			return err
		}
		if run.state == result.Running && s.lease.state(run.key) == leaseHeld {
			return store.ErrRunning
		}
		_, err = tx.Exec("INSERT INTO baseline (name, run) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET run = excluded.run", name, run.key)
		return err
	})
}

// Baselines implements store.Store.
func (s *Store) Baselines(ctx context.Context) ([]store.Baseline, error) {
	const op = "list baselines"
	if s.closed.Load() {
		return nil, s.failed(op, store.ErrClosed)
	}
	all, err := s.baselines(ctx)
	if err != nil {
		return nil, s.failed(op, err)
	}
	return all, nil
}

func (s *Store) baselines(ctx context.Context) ([]store.Baseline, error) {
	if s.version < withBaselines {
		return nil, ctx.Err()
	}
	rows, err := s.read.QueryContext(ctx, "SELECT name, id FROM baseline JOIN run ON run.key = baseline.run ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []store.Baseline
	for rows.Next() {
		var b store.Baseline
		if err := rows.Scan(&b.Name, &b.ID); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, rows.Err()
}

// RemoveBaseline implements store.Store.
func (s *Store) RemoveBaseline(ctx context.Context, name string) error {
	return s.update(ctx, fmt.Sprintf("remove the baseline %q", name), func(tx *sql.Tx) error {
		done, err := tx.Exec("DELETE FROM baseline WHERE name = ?", name)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		names, err := index{s}.BaselineNames(ctx)
		if err != nil {
			return err
		}
		return store.NoBaseline(name, names)
	})
}

// notBaseline is an error if the run of a row is a baseline.
func notBaseline(tx *sql.Tx, r row, id string) error {
	var name string
	err := tx.QueryRow("SELECT name FROM baseline WHERE run = ? ORDER BY name", r.key).Scan(&name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return store.IsBaseline(id, name)
}

func (x index) ByBaseline(ctx context.Context, name string) ([]result.Run, error) {
	if x.s.version < withBaselines {
		return nil, nil
	}
	return x.s.runs(ctx, "key IN (SELECT run FROM baseline WHERE name = ?)", name, 1)
}

func (x index) BaselineNames(ctx context.Context) ([]string, error) {
	all, err := x.s.baselines(ctx)
	names := make([]string, len(all))
	for i, b := range all {
		names[i] = b.Name
	}
	return names, err
}
