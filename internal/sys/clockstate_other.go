//go:build !linux

package sys

import (
	"errors"
	"time"
)

// ClockState reports that this system is not asked.
func ClockState() (kept bool, estimated, most time.Duration, err error) {
	return false, 0, 0, errors.ErrUnsupported
}
