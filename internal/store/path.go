package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// fileName is the store's file in the program's folder.
const fileName = "netdelta.db"

// DefaultPath is where a user's store is unless a path is given: in netdelta's
// folder of the user's data directory, which is $XDG_DATA_HOME or else
// ~/.local/share (XDG Base Directory Specification), on macOS
// ~/Library/Application Support. It makes nothing.
func DefaultPath() (string, error) {
	return defaultPath(runtime.GOOS, os.Getenv)
}

func defaultPath(system string, getenv func(string) string) (string, error) {
	// The specification has relative paths ignored.
	if data := getenv("XDG_DATA_HOME"); system != "darwin" && filepath.IsAbs(data) {
		return filepath.Join(data, "netdelta", fileName), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("find a place for the store: %w", errNoHome)
	}
	if system == "darwin" {
		return filepath.Join(home, "Library", "Application Support", "netdelta", fileName), nil
	}
	return filepath.Join(home, ".local", "share", "netdelta", fileName), nil
}

var errNoHome = errors.New("neither XDG_DATA_HOME nor HOME names a directory: give the store's file with --store")
