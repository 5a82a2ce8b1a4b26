package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"netdelta/internal/store"
)

// readers is how many reads of one process run at once.
const readers = 4

// Open opens the store in the file at path, and makes it where there is none;
// with an empty path it is the user's own, at store.DefaultPath. Files are
// made for the user alone (0600), the user's own directory too (0700). A store
// of an older version is migrated. A store that can't be written but can be
// read is opened all the same, and its writes fail; see ReadOnly.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	path, err := place(path, o)
	if err != nil {
		return nil, err
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = DefaultBusyTimeout
	}
	s := &Store{path: path}
	if err := s.checkFile(o); err != nil {
		return nil, err
	}
	if err := s.openWritable(ctx, o); err != nil {
		s.Close()
		old := &Store{path: path}
		if !errors.Is(err, store.ErrReadOnly) && !errors.Is(err, store.ErrFull) ||
			old.openReadable(ctx, o, err) != nil {
			old.Close()
			return nil, err
		}
		s = old
	}
	s.lease = openLease(path, s.readOnly == nil)
	return s, nil
}

// place is the absolute path of the store. It makes the directory of the
// user's own store, and no other: a path that was given may be mistyped.
func place(path string, o Options) (string, error) {
	if path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", fmt.Errorf("store %s: %w", path, err)
		}
		return abs, nil
	}
	path, err := store.DefaultPath()
	if err != nil {
		return "", err
	}
	if o.MustExist {
		return path, nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", (&Store{path: path}).failed("make the directory "+dir, err)
	}
	return path, nil
}

// checkFile sees that there is a file that can be a store, and makes an empty
// one where there is nothing. It must not open one that exists: closing it
// would drop the locks that this process holds on it by other descriptors
// (fcntl(2), advisory record locking).
func (s *Store) checkFile(o Options) error {
	const op = "open"
	st, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.MustExist:
		return &store.Error{Store: s.path, Op: op, Kind: store.ErrMissing,
			Advice: "measure something first, or give the file with --store"}
	case errors.Is(err, fs.ErrNotExist):
		return s.makeFile()
	case err != nil:
		return s.failed(op, err)
	case st.IsDir():
		return &store.Error{Store: s.path, Op: op, Kind: store.ErrNotStore, Cause: errors.New("a directory"),
			Advice: "give a file, for example " + filepath.Join(s.path, "netdelta.db")}
	case !st.Mode().IsRegular():
		return &store.Error{Store: s.path, Op: op, Kind: store.ErrNotStore, Cause: fmt.Errorf("a special file, mode %v", st.Mode()),
			Advice: "give an ordinary file"}
	}
	return nil
}

// makeFile makes an empty file, which SQLite takes for a new database. The
// log and the index beside it get the same permissions from SQLite.
func (s *Store) makeFile() error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process made it meanwhile
	}
	if err != nil {
		return s.failed("make the file", err)
	}
	return f.Close()
}

// openWritable opens both pools and brings the schema up to date.
func (s *Store) openWritable(ctx context.Context, o Options) error {
	const op = "open"
	var err error
	if s.write, err = open(s.path, readWrite, o.BusyTimeout, 1); err != nil {
		return s.failed(op, err)
	}
	if err := s.prepare(ctx, o); err != nil {
		return s.failed(op, err)
	}
	if s.read, err = open(s.path, readWrite, o.BusyTimeout, readers); err != nil {
		return s.failed(op, err)
	}
	return nil
}

// prepare checks the file, migrates it and turns its log on. Processes that
// open a new store at once get in each other's way here, in ways for which
// SQLite does not wait; so it is tried again while others are at it.
func (s *Store) prepare(ctx context.Context, o Options) error {
	for deadline := time.Now().Add(o.BusyTimeout); ; {
		err := s.tryPrepare(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || !errors.Is(s.failed("", err), store.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *Store) tryPrepare(ctx context.Context) error {
	if err := s.checkWritable(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, s.write, migrations()); err != nil {
		return err
	}
	var err error
	if s.version, err = inspect(ctx, s.write); err != nil {
		return err
	}
	// Where the file system can't have a log (it takes shared memory), SQLite
	// stays with a rollback journal, which is as durable.
	var journal string
	return s.write.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&journal)
}

// checkWritable is ErrReadOnly for a file that may only be read: SQLite opens
// it all the same and tells at the first write.
func (s *Store) checkWritable(ctx context.Context) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		told, ok := c.(interface{ IsReadOnly(string) (bool, error) })
		if !ok {
			return nil // then the first write tells
		}
		only, err := told.IsReadOnly("main")
		if err == nil && only {
			return store.ErrReadOnly
		}
		return err
	})
}

// openReadable opens a store that can't be written, for the reason given.
func (s *Store) openReadable(ctx context.Context, o Options, why error) error {
	s.readOnly = why
	err := s.openFor(ctx, readOnly, o)
	if err == nil {
		return nil
	}
	s.closePool(s.read)
	// Where the log is empty, it has nothing that the file does not have.
	if log, statErr := os.Stat(s.path + "-wal"); statErr == nil && log.Size() > 0 {
		return err
	}
	return s.openFor(ctx, immutable, o)
}

func (s *Store) openFor(ctx context.Context, m mode, o Options) error {
	var err error
	if s.read, err = open(s.path, m, o.BusyTimeout, readers); err != nil {
		return err
	}
	s.version, err = readable(ctx, s.read, migrations())
	return err
}
