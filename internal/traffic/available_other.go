//go:build !(linux || darwin || freebsd)

package traffic

import (
	"errors"
	"fmt"
	"runtime"

	"netdelta/internal/spec"
)

// Refused says that this system has no methods.
func Refused(spec.Test, string) error {
	return fmt.Errorf("carry traffic: needs Linux, macOS or FreeBSD, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
