//go:build !linux

package ether

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Wire is a running wire, on Linux.
type Wire struct{}

func unsupported() error {
	return fmt.Errorf("emulated Ethernet needs Linux, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Start reports that there are no wires on this system.
func Start(Config) (*Wire, error) { return nil, unsupported() }

// Main reports that there are no wires on this system.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "netdelta:", unsupported())
	return 3
}

// Warnings returns nothing.
func (*Wire) Warnings() []string { return nil }

// PID returns 0.
func (*Wire) PID() int { return 0 }

// Done returns a channel that is never closed.
func (*Wire) Done() <-chan struct{} { return nil }

// Err reports that there are no wires on this system.
func (*Wire) Err() error { return unsupported() }

// Stats reports that there are no wires on this system.
func (*Wire) Stats() (Stats, error) { return Stats{}, unsupported() }

// Close reports that there are no wires on this system.
func (*Wire) Close() error { return unsupported() }
