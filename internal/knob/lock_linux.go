package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock is that of one setting: a lock of flock(2), which the kernel gives up when
// the process ends, however it ends.
type lock struct {
	j    *journal
	stem string
	f    *os.File
}

// errLocked is the lock that somebody else has.
var errLocked = errors.New("locked")

// lockPatience is how long a lock is asked for: who only lists the journal has
// it for a moment.
const lockPatience = 200 * time.Millisecond

// lock takes a setting's lock, or returns errLocked. The file is removed by who
// has it locked, so what was locked may be a file that has gone since: then
// another is made.
func (j *journal) lock(ctx context.Context, stem string) (*lock, error) {
	for end := time.Now().Add(lockPatience); ; {
		l, err := j.tryLock(stem)
		if err != nil && !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("journal of settings %s: lock %s: %w", j.path, stem, err)
		}
		if l != nil {
			return l, nil
		}
		if err != nil && time.Now().After(end) {
			return nil, errLocked
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// tryLock returns nil and nil where the file went away meanwhile.
func (j *journal) tryLock(stem string) (*lock, error) {
	f, err := j.root.OpenFile(stem+lockEnd, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	locked, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	now, err := j.root.Lstat(stem + lockEnd)
	if err == nil && os.SameFile(locked, now) {
		return &lock{j, stem, f}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}

// release gives the lock up, and removes its file and what a dead writer left.
func (l *lock) release() error {
	err := errors.Join(l.j.drop(l.stem+partEnd), l.j.drop(l.stem+lockEnd), l.f.Close())
	if err != nil {
		return fmt.Errorf("journal of settings %s: unlock %s: %w", l.j.path, l.stem, err)
	}
	return nil
}

// isLocked looks whether a live process has a setting, without making a file.
func (j *journal) isLocked(stem string) (bool, error) {
	f, err := j.root.OpenFile(stem+lockEnd, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("journal of settings %s: %w", j.path, err)
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
