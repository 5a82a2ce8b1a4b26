package sys

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Sysfs is the /sys of one network namespace. A sysfs mount shows the devices
// of the namespace in which it was made, so the /sys that is there shows the
// wrong ones. This one is a detached mount (fsopen(2), fsmount(2), Linux 5.2):
// it is at no path, in no mount namespace, and goes with its descriptor.
type Sysfs struct {
	root int
}

// OpenSysfs mounts the sysfs of the namespace. It needs CAP_SYS_ADMIN in the
// user namespaces of both the network and the mount namespace, and in a user
// namespace also that nothing is hidden below the existing /sys.
func (n *NetNS) OpenSysfs() (*Sysfs, error) {
	s := &Sysfs{root: -1}
	err := n.Do(func() error {
		fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
		if err != nil {
			return fmt.Errorf("open a sysfs for the namespace (fsopen): %w", err)
		}
		defer unix.Close(fs)
		if err := unix.FsconfigCreate(fs); err != nil {
			return fmt.Errorf("make a sysfs for the namespace (fsconfig): %w", err)
		}
		s.root, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
		if err != nil {
			return fmt.Errorf("mount a sysfs for the namespace (fsmount): %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close gives up the mount.
func (s *Sysfs) Close() error { return unix.Close(s.root) }

// Set writes a value to the file at path, relative to /sys, and reads it
// back; a value that did not stick is an error.
func (s *Sysfs) Set(path, value string) error {
	f, err := s.open(path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s to /sys/%s: %w", value, path, bare(err))
	}
	got, err := s.Get(path)
	if err != nil {
		return err
	}
	if got != value {
		return fmt.Errorf("/sys/%s reads %s after %s was written: the kernel ignored it", path, got, value)
	}
	return nil
}

// Get reads the file at path, relative to /sys, without the final newline.
func (s *Sysfs) Get(path string) (string, error) {
	f, err := s.open(path, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, err := f.Read(buf)
	if err != nil {
		return "", fmt.Errorf("read /sys/%s: %w", path, bare(err))
	}
	return strings.TrimSuffix(string(buf[:n]), "\n"), nil
}

func (s *Sysfs) open(path string, mode int) (*os.File, error) {
	fd, err := unix.Openat(s.root, path, mode|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /sys/%s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// bare takes the path and the operation off an error of package os, for
// messages that have told them.
func bare(err error) error {
	if e := (*os.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
