package ctl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// LoadSecret reads the secret from the file, or if that is "" from the
// environment variable NETDELTA_SECRET. A file that is named counts, whatever
// the variable says. The error is ErrNoSecret if there is neither.
func LoadSecret(file string) (Secret, error) {
	if file == "" {
		text := os.Getenv(SecretEnv)
		if text == "" {
			return Secret{}, ErrNoSecret
		}
		s, err := ParseSecret(text)
		if err != nil {
			return Secret{}, fmt.Errorf("%s: %w", SecretEnv, err)
		}
		return s, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return Secret{}, fmt.Errorf("read the secret: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Secret{}, fmt.Errorf("read the secret: %w", err)
	}
	if err := private(file, info, os.Geteuid()); err != nil {
		return Secret{}, err
	}
	// Spaces and line ends do not count, so there may be some more of them.
	text, err := io.ReadAll(io.LimitReader(f, 4*maxSecret))
	if err != nil {
		return Secret{}, fmt.Errorf("read the secret: %w", err)
	}
	s, err := ParseSecret(string(text))
	if err != nil {
		return Secret{}, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// private refuses a secret's file that others can get at, as ssh does with
// keys. In a file of someone else's, root's for instance, the group may be
// the way in which this user is meant to read it.
func private(name string, info fs.FileInfo, user int) error {
	if info.IsDir() {
		return fmt.Errorf("read the secret: %s is a directory: name a file", name)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.ErrUnsupported
	}
	mode := info.Mode().Perm()
	if mode&0o007 != 0 || mode&0o070 != 0 && int(stat.Uid) == user {
		return fmt.Errorf("%s has mode %04o, so others can read or change the secret: chmod 600 %[1]s", name, mode)
	}
	return nil
}
