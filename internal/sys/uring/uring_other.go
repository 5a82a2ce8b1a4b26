//go:build !linux

package uring

import (
	"errors"
	"fmt"
	"runtime"
)

// Ring is Linux's.
type Ring struct{}

// New makes a ring on Linux; elsewhere it reports that there is none.
func New(o Options) (*Ring, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("set up an io_uring: needs Linux, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Close does nothing.
func (*Ring) Close() error { return nil }
