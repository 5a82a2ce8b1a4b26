// Package sqlite is the store in one SQLite file, by a SQLite that is itself
// written in Go.
//
// Durability. A trial that Append has acknowledged must outlive more than the
// process: the users of this program try kernels and drivers, and those crash.
// So commits are synchronous (WAL with synchronous=FULL: one flush of the log
// each), not only written to the page cache (NORMAL), which a kill -9 would
// leave whole but a panic would not. A flush takes milliseconds and falls
// between trials, never into a window.
//
// Several processes may use one file. Each write is one short IMMEDIATE
// transaction, readers never wait for writers, and whoever finds the file
// locked tries again for Options.BusyTimeout.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"netdelta/internal/store"
)

// Options change how a store is opened. The zero Options are good for a user.
type Options struct {
	// BusyTimeout is how long a call waits for other processes' writes before
	// it is ErrBusy; DefaultBusyTimeout if zero.
	BusyTimeout time.Duration
	// MustExist keeps Open from making a new store: ErrMissing instead.
	MustExist bool
}

// DefaultBusyTimeout is long beside any transaction of this package's but a
// very large batch.
const DefaultBusyTimeout = 10 * time.Second

// Store is an open SQLite store. It implements store.Store.
type Store struct {
	path   string
	write  *sql.DB // one connection, so that it is the process's write lock
	read   *sql.DB
	lease  *lease
	closed atomic.Bool
	// version is the schema's, which is an older one's at most where nothing can
	// be written.
	version int64
	// readOnly is why nothing can be written, or nil.
	readOnly error
}

var _ store.Store = (*Store)(nil)

// Path is the store's file.
func (s *Store) Path() string { return s.path }

// ReadOnly is the reason for which the store can be read but not written, or
// nil. It is what every write would return.
func (s *Store) ReadOnly() error { return s.readOnly }

// Close releases the store. The last process to close it also folds the log
// into the file, so that one file holds everything.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	err := errors.Join(s.closePool(s.read), s.closePool(s.write), s.lease.close())
	if err != nil {
		return s.failed("close", err)
	}
	return nil
}

func (s *Store) closePool(db *sql.DB) error {
	if db == nil {
		return nil
	}
	return db.Close()
}

// update runs one write transaction. What f does is committed as a whole or
// not at all.
func (s *Store) update(ctx context.Context, op string, f func(tx *sql.Tx) error) error {
	if s.closed.Load() {
		return s.failed(op, store.ErrClosed)
	}
	if s.readOnly != nil {
		return s.failed(op, s.readOnly)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.failed(op, err)
	}
	if err := f(tx); err != nil {
		tx.Rollback() // its own failure changes nothing: the connection goes
		return s.failed(op, orContext(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		return s.failed(op, orContext(ctx, err))
	}
	return nil
}

// orContext is the context's error where that is what ended a transaction:
// database/sql then only says that the transaction is over.
func orContext(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
