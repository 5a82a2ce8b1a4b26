//go:build darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"

	"netdelta/internal/result"
)

var (
	newManyTCPLocal  = newNotMany
	newManyTCPRemote = newNotMany
	newManyUDPLocal  = newNotMany
	newManyUDPRemote = newNotMany
)

// notMany stands for the engines of many flows where there are none.
type notMany struct{ cfg Config }

func newNotMany(cfg Config) Engine { return notMany{cfg} }

func (e notMany) Prepare() (uint16, error) {
	return 0, fmt.Errorf("test %s: flows and burst need Linux's epoll: %w", e.cfg.Test, errors.ErrUnsupported)
}

func (e notMany) Arm(netip.AddrPort) error { _, err := e.Prepare(); return err }

func (e notMany) Run() (result.End, error) { _, err := e.Prepare(); return result.End{}, err }

func (notMany) Stop() {}

func (notMany) Intervals() *Intervals { return nil }

func (notMany) Close() error { return nil }
