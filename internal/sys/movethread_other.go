//go:build !linux

package sys

import (
	"errors"
	"fmt"
)

// MoveThread is Linux's.
func MoveThread(cpus ...int) error {
	return fmt.Errorf("move a thread to CPUs %s: %w", ranges(cpus), errors.ErrUnsupported)
}
