//go:build !(linux || darwin || freebsd)

package worker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

var errSystem = errors.New("workers need Linux")

// Worker is the agent's handle on a worker process, which only Linux has.
type Worker struct{}

// Start fails.
func Start(*sys.NetNS) (*Worker, error) { return nil, errSystem }

// StartIn fails.
func StartIn(*sys.NetNS, *os.File) (*Worker, error) { return nil, errSystem }

// Main fails.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, errSystem)
	return 1
}

// PID is 0.
func (*Worker) PID() int { return 0 }

// Prepare fails.
func (*Worker) Prepare(context.Context, traffic.Config) (uint16, error) { return 0, errSystem }

// Arm fails.
func (*Worker) Arm(context.Context, netip.AddrPort) error { return errSystem }

// Run fails.
func (*Worker) Run(context.Context) (*result.End, error) { return nil, errSystem }

// Drain fails.
func (*Worker) Drain(context.Context) (*result.End, error) { return nil, errSystem }

// Report does nothing.
func (*Worker) Report(func(interval []byte)) {}

// Close does nothing.
func (*Worker) Close() error { return nil }
