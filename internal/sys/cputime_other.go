//go:build !(linux || darwin || freebsd)

package sys

import (
	"errors"
	"fmt"
	"runtime"
)

// CPUTime reports that there is no getrusage.
func CPUTime() (user, system int64, err error) {
	return 0, 0, fmt.Errorf("read the process's CPU time: there is no getrusage on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
