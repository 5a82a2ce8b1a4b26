package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context, run result.Run) error {
	op := "begin run " + run.ID
	run.State = result.Running
	record, err := result.EncodeRun(run)
	if err != nil {
		return s.failed(op, err)
	}
	var key int64
	err = s.update(ctx, op, func(tx *sql.Tx) error {
		err := tx.QueryRow(`INSERT INTO run (id, label, state, started, record, sum) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING RETURNING key`,
			run.ID, run.Label, string(run.State), run.Start.UnixNano(), string(record), sum(record)).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrExists
		}
		if err != nil {
			return err
		}
		// Before anybody can see the run, lest it look cut off.
		s.lease.take(run.ID, key)
		return nil
	})
	if err != nil && key != 0 {
		s.lease.release(run.ID)
	}
	return err
}

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, id string, trials ...result.Trial) error {
	op := "append to run " + id
	if len(trials) == 0 {
		return nil
	}
	rows, err := encode(trials)
	if err != nil {
		return s.failed(op, err)
	}
	return s.update(ctx, op, func(tx *sql.Tx) error {
		run, err := unfinished(tx, id)
		if err != nil {
			return err
		}
		series, err := addSeries(tx, run.key, rows)
		if err != nil {
			return err
		}
		return insert(ctx, tx, run.key, series, rows)
	})
}

// seriesKey names one test under one variant.
type seriesKey struct{ test, variant string }

// addSeries counts the rows in their series, which it makes where they are
// new, and returns the series' keys.
func addSeries(tx *sql.Tx, run int64, rows []kept) (map[seriesKey]int64, error) {
	var order []seriesKey // new series get their keys in the order of their first trials
	counts := map[seriesKey]int64{}
	for _, r := range rows {
		k := seriesKey{r.test, r.variant}
		if counts[k]++; counts[k] == 1 {
			order = append(order, k)
		}
	}
	keys := make(map[seriesKey]int64, len(order))
	for _, k := range order {
		var key int64
		err := tx.QueryRow(`INSERT INTO series (run, test, variant, trials) VALUES (?, ?, ?, ?)
			ON CONFLICT (run, test, variant) DO UPDATE SET trials = trials + excluded.trials
			RETURNING key`, run, k.test, k.variant, counts[k]).Scan(&key)
		if err != nil {
			return nil, err
		}
		keys[k] = key
	}
	return keys, nil
}

// chunk is how many rows one statement inserts: a call of the driver costs as
// much as a row.
const chunk = 32

// insert writes the rows, in their order.
func insert(ctx context.Context, tx *sql.Tx, run int64, series map[seriesKey]int64, rows []kept) error {
	var stmt *sql.Stmt
	prepared := 0
	args := make([]any, 0, chunk*7)
	for part := range slices.Chunk(rows, chunk) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(part) != prepared { // twice at most: the last chunk may be smaller
			var err error
			if stmt, err = tx.Prepare(insertTrials(len(part))); err != nil {
				return err
			}
			prepared = len(part)
			defer stmt.Close()
		}
		args = args[:0]
		for _, r := range part {
			args = append(args, run, series[seriesKey{r.test, r.variant}], r.block, r.order, r.attempt, string(r.record), sum(r.record))
		}
		if _, err := stmt.Exec(args...); err != nil {
			return err
		}
	}
	return nil
}

func insertTrials(n int) string {
	return "INSERT INTO trial (run, series, block, place, attempt, record, sum) VALUES " +
		strings.TrimSuffix(strings.Repeat("(?,?,?,?,?,?,?),", n), ",")
}

// Finish implements store.Store.
func (s *Store) Finish(ctx context.Context, id string, state result.State, end time.Time, warnings []result.Warning) error {
	op := "finish run " + id
	if state == result.Running {
		return s.failed(op, errors.New("a run can't be finished as running"))
	}
	err := s.update(ctx, op, func(tx *sql.Tx) error {
		run, err := unfinished(tx, id)
		if err != nil {
			return err
		}
		return run.change(tx, func(r *result.Run) {
			r.State, r.End = state, end
			r.Warnings = slices.Concat(r.Warnings, warnings)
		})
	})
	if err == nil {
		s.lease.release(id)
	}
	return err
}

// Relabel implements store.Store.
func (s *Store) Relabel(ctx context.Context, id, label string) error {
	return s.update(ctx, "label run "+id, func(tx *sql.Tx) error {
		run, err := findRow(tx, id)
		if err != nil {
			return err
		}
		return run.change(tx, func(r *result.Run) { r.Label = label })
	})
}

// Remove implements store.Store.
func (s *Store) Remove(ctx context.Context, ids ...string) error {
	op := "remove " + strings.Join(ids, ", ")
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err := s.update(ctx, op, func(tx *sql.Tx) error {
		for _, id := range ids {
			run, err := findRow(tx, id)
			if err != nil {
				return err
			}
			if run.state == result.Running && s.lease.state(run.key) == leaseHeld {
				return fmt.Errorf("run %s: %w", id, store.ErrRunning)
			}
			if err := notBaseline(tx, run, id); err != nil {
				return err
			}
			if _, err := tx.Exec("DELETE FROM run WHERE key = ?", run.key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The space goes back to the file system. What was removed is removed,
	// whether that works or not.
	s.write.ExecContext(context.WithoutCancel(ctx), "PRAGMA incremental_vacuum")
	return nil
}
