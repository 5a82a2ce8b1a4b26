package sys

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Write writes a value to the file at path, relative to /sys, and does not read
// it back: for files that show a value in other words than it was written in.
func (s *Sysfs) Write(path, value string) error {
	f, err := s.open(path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %q to /sys/%s: %w", value, path, bare(err))
	}
	return nil
}

// List returns the sorted names of what is in the directory at path, relative to
// /sys.
func (s *Sysfs) List(path string) ([]string, error) {
	f, err := s.open(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list /sys/%s: %w", path, bare(err))
	}
	slices.Sort(names)
	return names, nil
}
