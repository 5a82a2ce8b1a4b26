package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"netdelta/internal/store"
)

// advice is what can be done about each kind of error.
var advice = map[error]string{
	store.ErrFull:     "free some space, or give a file elsewhere with --store; everything stored before is kept",
	store.ErrReadOnly: "make the file and its directory writable, or give a file elsewhere with --store",
	store.ErrBusy:     "wait until the other process is done, or end it",
	store.ErrCorrupt:  "keep a copy of the file and its -wal; \"sqlite3 FILE .recover\" saves what can be read; give a new file with --store",
	store.ErrNotStore: "give another file with --store",
	store.ErrMissing:  "make its directory first, or give another file with --store",
	store.ErrNewer:    "use the newer netdelta, or give another file with --store",
	store.ErrDisk:     "look for the cause in the kernel's log",
}

// kinds is what SQLite's primary result codes mean here
// (sqlite.org/rescode.html).
var kinds = map[int]error{
	codes.SQLITE_BUSY:     store.ErrBusy,
	codes.SQLITE_LOCKED:   store.ErrBusy,
	codes.SQLITE_PROTOCOL: store.ErrBusy,
	codes.SQLITE_FULL:     store.ErrFull,
	codes.SQLITE_READONLY: store.ErrReadOnly,
	codes.SQLITE_PERM:     store.ErrReadOnly,
	codes.SQLITE_CORRUPT:  store.ErrCorrupt,
	codes.SQLITE_NOTADB:   store.ErrNotStore,
	codes.SQLITE_IOERR:    store.ErrDisk,
	codes.SQLITE_CANTOPEN: store.ErrDisk,
}

// own are the kinds that code of this package gives itself.
var own = []error{store.ErrClosed, store.ErrNewer, store.ErrReadOnly, store.ErrNotStore, store.ErrCorrupt,
	store.ErrExists, store.ErrFinished, store.ErrRunning, store.ErrBaseline}

// failed makes the error of a call of what went wrong in it: what was tried
// on what file, the kind, and what to do. It leaves alone what says so already.
func (s *Store) failed(op string, err error) error {
	var done *store.Error
	if errors.As(err, &done) {
		if done.Op == op || op == "" {
			return err
		}
		return &store.Error{Store: s.path, Op: op, Kind: done.Kind, Cause: done.Cause, Advice: done.Advice}
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("store %s: %s: %w", s.path, op, err)
	}
	kind := s.kind(err)
	if kind == nil {
		return fmt.Errorf("store %s: %s: %w", s.path, op, err)
	}
	e := &store.Error{Store: s.path, Op: op, Kind: kind, Cause: err, Advice: advice[kind]}
	if err == kind {
		e.Cause = nil
	}
	return e
}

// kind is which of package store's errors an error is, nil for none.
func (s *Store) kind(err error) error {
	for _, k := range own {
		if errors.Is(err, k) {
			return k
		}
	}
	var sqliteErr *driver.Error
	if !errors.As(err, &sqliteErr) {
		return ofSystem(err)
	}
	kind := kinds[sqliteErr.Code()&0xff]
	if sqliteErr.Code() == codes.SQLITE_IOERR_CORRUPTFS {
		return store.ErrCorrupt
	}
	if kind == store.ErrDisk {
		// SQLite does not tell the system's reason; trying it does.
		if probed := ofSystem(cmp.Or(unix.Access(s.path, unix.R_OK|unix.W_OK), probe(filepath.Dir(s.path)))); probed != nil {
			return probed
		}
	}
	return kind
}

// ofSystem is the kind of a system call's error.
func ofSystem(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return store.ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return store.ErrReadOnly
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return store.ErrNotStore
	case errors.Is(err, fs.ErrNotExist):
		return store.ErrMissing
	case errors.Is(err, syscall.EIO):
		return store.ErrDisk
	}
	return nil
}

// probe writes 64 KiB, as much as SQLite wants for the index of its log and a
// little more, to a file that it removes again, and returns what kept it from
// that.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, ".netdelta-probe-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 64<<10)); err != nil {
		return err
	}
	return f.Sync()
}
