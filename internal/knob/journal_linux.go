package knob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files of one setting: its record, the record while it is written, and
// what is locked by the process that changed it.
const (
	recordEnd = ".json"
	partEnd   = ".part"
	lockEnd   = ".lock"
)

// journal is the directory that keeps what settings were. A setting's files are
// touched by who has its lock, and nobody else.
type journal struct {
	root *os.Root
	path string
}

// openJournal opens the directory, and makes it first if it is to be written.
// Commands in it are run, so it must be ours alone.
func openJournal(path string, make bool) (*journal, error) {
	if make {
		if err := makeLasting(path); err != nil {
			return nil, fmt.Errorf("make the journal of settings: %w: name another directory with %s", err, journalVar)
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the journal of settings: %w", err)
	}
	st, err := root.Stat(".")
	if err == nil {
		err = ours(st)
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("journal of settings %s: %w", path, err)
	}
	return &journal{root, path}, nil
}

// makeLasting makes a directory with those above it, and has the disk know of all
// that were not there: a record is no use in one that a crash takes away.
func makeLasting(path string) error {
	var fresh []string
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		fresh = append(fresh, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, parent := range fresh {
		d, err := os.Open(parent)
		if errors.Is(err, fs.ErrPermission) {
			continue // it is not this user's to look into
		}
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}

func ours(st fs.FileInfo) error {
	owner, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("its owner is not known")
	}
	if int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d and this is user %d, and commands in it are run: name another directory with %s",
			owner.Uid, os.Geteuid(), journalVar)
	}
	if st.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to it (mode %04o), and commands in it are run: look at what is in it, then chmod go-w", st.Mode().Perm())
	}
	return nil
}

func (j *journal) close() error { return j.root.Close() }

// write makes the record last: after it the disk has all of it.
func (j *journal) write(stem string, r record) error {
	data, err := r.encode()
	if err != nil {
		return fmt.Errorf("journal of settings: %w", err)
	}
	err = j.writeFile(stem+partEnd, data)
	if err == nil {
		err = j.root.Rename(stem+partEnd, stem+recordEnd)
	}
	if err != nil {
		// What is left of it is of no use to anybody.
		return fmt.Errorf("journal of settings %s: %w", j.path, errors.Join(err, j.drop(stem+partEnd)))
	}
	return j.sync()
}

func (j *journal) writeFile(name string, data []byte) error {
	f, err := j.root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove takes a record out of the journal, for good.
func (j *journal) remove(stem string) error {
	if err := j.drop(stem + recordEnd); err != nil {
		return fmt.Errorf("journal of settings %s: %w", j.path, err)
	}
	return j.sync()
}

// drop removes a file if it is there.
func (j *journal) drop(name string) error {
	if err := j.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sync has the disk know the directory's present names.
func (j *journal) sync() error {
	d, err := j.root.Open(".")
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return fmt.Errorf("journal of settings %s: %w", j.path, err)
	}
	return nil
}

// read returns a setting's record; there is none where ok is false. With an
// error the record has no more than what the file's name tells.
func (j *journal) read(stem string) (r record, ok bool, err error) {
	f, err := j.root.OpenFile(stem+recordEnd, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	}
	if err == nil {
		var data []byte
		data, err = io.ReadAll(io.LimitReader(f, maxRecord+1))
		f.Close()
		if err == nil {
			r, err = decodeRecord(stem, data)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s/%s%s cannot be read: %w: restore by hand what it tells of, then remove it", j.path, stem, recordEnd, err)
	}
	return r, true, err
}

// stems lists the settings that have any file.
func (j *journal) stems() ([]string, error) {
	d, err := j.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("journal of settings %s: %w", j.path, err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("journal of settings %s: %w", j.path, err)
	}
	var stems []string
	for _, name := range names {
		for _, end := range []string{recordEnd, partEnd, lockEnd} {
			if stem, ok := strings.CutSuffix(name, end); ok && stem != "" {
				stems = append(stems, stem)
			}
		}
	}
	slices.Sort(stems)
	return slices.Compact(stems), nil
}
