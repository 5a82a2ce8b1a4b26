//go:build darwin || freebsd

package traffic

import (
	"errors"
	"net/netip"

	"netdelta/internal/result"
)

// noWake is wake where threads have none of its ways to wake each other.
type noWake struct{ by string }

func newWake(cfg Config) Engine { return noWake{cfg.Test.Params.By} }

func (e noWake) Prepare() (uint16, error) {
	return 0, unavailable("wake by "+e.by, "let one thread wake another", "Linux", errors.ErrUnsupported)
}

func (noWake) Arm(netip.AddrPort) error { return errors.ErrUnsupported }

func (noWake) Run() (result.End, error) { return result.End{}, errors.ErrUnsupported }

func (noWake) Stop() {}

func (noWake) Intervals() *Intervals { return nil }

func (noWake) Close() error { return nil }
