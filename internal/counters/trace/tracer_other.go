//go:build !linux

package trace

import (
	"errors"

	"netdelta/internal/feature"
)

// Tracer tells nothing: there are no such programs on this system.
type Tracer struct{}

// Open reports that there are no such programs on this system.
func Open(bool) (*Tracer, error) {
	return nil, &feature.Error{Feature: "tracing by eBPF", Tried: "load programs", Need: "Linux",
		Kernel: feature.Kernel().String(), Err: errors.ErrUnsupported}
}

// Watch does nothing.
func (*Tracer) Watch(Flow) error { return errors.ErrUnsupported }

// Gate is nil.
func (*Tracer) Gate() []byte { return nil }

// Enlist does nothing.
func (*Tracer) Enlist() error { return errors.ErrUnsupported }

// Events are none.
func (*Tracer) Events() ([]Event, int64, error) { return nil, 0, nil }

// Filling is false.
func (*Tracer) Filling() bool { return false }

// Close does nothing.
func (*Tracer) Close() error { return nil }

// Available reports that there are no such programs on this system.
func Available() error {
	_, err := Open(false)
	return err
}
