package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// outputFile is a file to write, or standard output where there is none.
type outputFile struct{ path string }

// check reports what keeps the file from being written, before there is anything for
// it.
func (o outputFile) check(flag string) error {
	if o.path == "" {
		return nil
	}
	if info, err := os.Stat(folderOf(o.path)); err != nil || !info.IsDir() {
		return usageError("--%s %s: there is no folder %s", flag, o.path, folderOf(o.path))
	}
	if info, err := os.Stat(o.path); err == nil && !info.Mode().IsRegular() {
		return &exitError{ExitUsage, errors.New("--" + flag + " " + o.path + ": it is there and no ordinary file")}
	}
	return nil
}

// folderOf is the folder that a file is in.
func folderOf(path string) string { return filepath.Dir(path) }

// put has render write to standard output or the file. A file is there whole or as it
// was before.
func (o outputFile) put(stdout io.Writer, render func(io.Writer) error) error {
	if o.path == "" {
		return render(stdout)
	}
	f, err := os.CreateTemp(folderOf(o.path), "."+filepath.Base(o.path)+"-*")
	if err != nil {
		return err
	}
	err = render(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), o.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
