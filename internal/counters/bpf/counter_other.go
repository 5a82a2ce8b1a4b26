//go:build !linux

package bpf

import (
	"errors"

	"netdelta/internal/feature"
)

// Counter counts nothing: there are no such programs on this system.
type Counter struct{}

// Open reports that there are no such programs on this system.
func Open() (*Counter, error) {
	return nil, &feature.Error{Feature: "counting by eBPF", Tried: "load programs", Need: "Linux",
		Kernel: feature.Kernel().String(), Err: errors.ErrUnsupported}
}

// Read reports that nothing is counted.
func (*Counter) Read() (cpus []CPU, at int64, err error) { return nil, 0, errors.ErrUnsupported }

// Close does nothing.
func (*Counter) Close() error { return nil }
