package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// Find implements store.Store.
func (s *Store) Find(ctx context.Context, ref string) ([]result.Run, error) {
	op := fmt.Sprintf("find run %q", ref)
	if s.closed.Load() {
		return nil, s.failed(op, store.ErrClosed)
	}
	runs, err := store.Resolve(ctx, index{s}, ref)
	if err != nil {
		return nil, s.failed(op, err)
	}
	return runs, nil
}

// Runs implements store.Store.
func (s *Store) Runs(ctx context.Context, f store.Filter) ([]result.Run, error) {
	const op = "list runs"
	if s.closed.Load() {
		return nil, s.failed(op, store.ErrClosed)
	}
	where, args := []string{"true"}, []any{}
	if f.Label != "" {
		where, args = append(where, "label = ?"), append(args, f.Label)
	}
	if !f.Since.IsZero() {
		where, args = append(where, "started >= ?"), append(args, nanos(f.Since))
	}
	limit := f.Limit
	if limit <= 0 {
		limit = math.MaxInt64
	}
	var runs []result.Run
	err := s.eachRow(ctx, func(r row) error {
		run, err := s.run(r)
		if errors.Is(err, store.ErrCorrupt) {
			run, err = s.stub(ctx, r)
		}
		runs = append(runs, run)
		return err
	}, strings.Join(where, " AND "), append(args, limit)...)
	if err != nil {
		return nil, s.failed(op, err)
	}
	return runs, nil
}

// stub stands for a run whose record is damaged, so that a list shows the
// others and names this one; its trials have records of their own.
func (s *Store) stub(ctx context.Context, r row) (result.Run, error) {
	run := result.Run{State: result.Failed, Warnings: []result.Warning{store.Unreadable()}}
	var started int64
	err := s.read.QueryRowContext(ctx, "SELECT id, label, started FROM run WHERE key = ?", r.key).Scan(&run.ID, &run.Label, &started)
	run.Start = time.Unix(0, started)
	return run, err
}

// nanos is a time in ns since 1970, or the nearest that 64 bits can hold.
func nanos(t time.Time) int64 {
	switch first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64); {
	case t.Before(first):
		return math.MinInt64
	case t.After(last):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// runs returns the runs that a condition chooses, newest first; the last
// argument is the limit.
func (s *Store) runs(ctx context.Context, where string, args ...any) (runs []result.Run, err error) {
	err = s.eachRow(ctx, func(r row) error {
		run, err := s.run(r)
		runs = append(runs, run)
		return err
	}, where, args...)
	if err != nil {
		return nil, err
	}
	return runs, nil
}

// run is the run of a row.
func (s *Store) run(r row) (result.Run, error) {
	run, err := r.decode()
	if err != nil {
		return run, fmt.Errorf("run in row %d: %w", r.key, err)
	}
	if run.State == result.Running && s.lease.state(r.key) == leaseFree {
		run.State = result.Partial
		run.Warnings = append(run.Warnings, store.CutOff())
	}
	return run, nil
}

// eachRow calls f for the rows of run that a condition chooses, newest first,
// until it fails; the last argument is the limit.
func (s *Store) eachRow(ctx context.Context, f func(row) error, where string, args ...any) error {
	rows, err := s.read.QueryContext(ctx, "SELECT "+runColumns+" FROM run WHERE "+where+
		" ORDER BY started DESC, key DESC LIMIT ?", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return err
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// index is the store as store.Resolve sees it.
type index struct{ s *Store }

func (x index) ByIDPrefix(ctx context.Context, prefix string, limit int) ([]result.Run, error) {
	// No character of an id comes after z, and GLOB's are not in any.
	return x.s.runs(ctx, "id >= ? AND id < ?", prefix, prefix+"{", limit)
}

func (x index) ByLabel(ctx context.Context, label string) ([]result.Run, error) {
	return x.s.runs(ctx, "label = ?", label, math.MaxInt64)
}

func (x index) Labels(ctx context.Context) ([]string, error) {
	rows, err := x.s.read.QueryContext(ctx, "SELECT DISTINCT label FROM run WHERE label <> ''")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var labels []string
	for rows.Next() {
		var l string
		if err := rows.Scan(&l); err != nil {
			return nil, err
		}
		labels = append(labels, l)
	}
	return labels, rows.Err()
}

// key is the row of the run with that id.
func (s *Store) key(ctx context.Context, id string) (int64, error) {
	var key int64
	err := s.read.QueryRowContext(ctx, "SELECT key FROM run WHERE id = ?", id).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &store.NotFoundError{Ref: id}
	}
	return key, err
}

// Tally implements store.Store.
func (s *Store) Tally(ctx context.Context, id string) ([]store.Group, error) {
	op := "count trials of run " + id
	if s.closed.Load() {
		return nil, s.failed(op, store.ErrClosed)
	}
	groups, err := s.tally(ctx, id)
	if err != nil {
		return nil, s.failed(op, err)
	}
	return groups, nil
}

func (s *Store) tally(ctx context.Context, id string) ([]store.Group, error) {
	key, err := s.key(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, "SELECT test, variant, trials FROM series WHERE run = ? ORDER BY key", key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var groups []store.Group
	for rows.Next() {
		var g store.Group
		var test, variant []byte
		if err := rows.Scan(&test, &variant, &g.Trials); err != nil {
			return nil, err
		}
		if err := errors.Join(json.Unmarshal(test, &g.Test), json.Unmarshal(variant, &g.Variant)); err != nil {
			return nil, fmt.Errorf("%w: series of run %s: %w", store.ErrCorrupt, id, err)
		}
		groups = append(groups, g)
	}
	return groups, rows.Err()
}

// Trials implements store.Store.
func (s *Store) Trials(ctx context.Context, id string) iter.Seq2[result.Trial, error] {
	return func(yield func(result.Trial, error) bool) {
		op := "read trials of run " + id
		if s.closed.Load() {
			yield(result.Trial{}, s.failed(op, store.ErrClosed))
			return
		}
		if err := s.trials(ctx, id, op, yield); err != nil {
			yield(result.Trial{}, s.failed(op, err))
		}
	}
}

// readAhead is how many records are read before they are decoded together, on
// all CPUs: decoding takes most of the time.
const readAhead = 128

// trials yields the trials, and returns what ends them early.
func (s *Store) trials(ctx context.Context, id, op string, yield func(result.Trial, error) bool) error {
	key, err := s.key(ctx, id)
	if err != nil {
		return err
	}
	// One statement sees the store as it was when it began (WAL).
	rows, err := s.read.QueryContext(ctx, "SELECT record, sum FROM trial WHERE run = ? ORDER BY key", key)
	if err != nil {
		return err
	}
	defer rows.Close()
	var batch [readAhead]struct {
		record []byte
		sum    int64
		trial  result.Trial
		err    error
	}
	at := 0
	for more := true; more; {
		n := 0
		for n < readAhead {
			if more = rows.Next(); !more {
				break
			}
			if err := rows.Scan(&batch[n].record, &batch[n].sum); err != nil {
				return err
			}
			n++
		}
		forEach(n, func(i int) {
			b := &batch[i]
			b.trial, b.err = result.Trial{}, checkSum(b.record, b.sum)
			if b.err == nil {
				b.trial, b.err = result.Decode(b.record)
			}
		})
		for i := range n {
			at++
			err := batch[i].err
			if err != nil {
				err = s.failed(fmt.Sprintf("%s, record %d", op, at), err)
			}
			if !yield(batch[i].trial, err) {
				return nil
			}
		}
	}
	return rows.Err()
}
