//go:build !linux

package tuntap

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Open makes a TAP on Linux; elsewhere it reports that there is none.
func Open(name string, o Options) (*os.File, string, error) {
	return nil, "", fmt.Errorf("make TAP %q: needs Linux, this is %s: %w", name, runtime.GOOS, errors.ErrUnsupported)
}
