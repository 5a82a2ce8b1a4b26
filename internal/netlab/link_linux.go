package netlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"

	"netdelta/internal/ether"
)

// Link is a link between a lab's hosts.
type Link struct {
	lab  *Lab
	cfg  LinkConfig
	wire *ether.Wire // nil for a veth
	busy *Awake      // nil for none
	taps []*os.File
	// warnings are the link's own; the wire has others.
	warnings []string
	// seen is what each CPU had taken in before the first frame of a steered
	// link, by its number.
	seen map[int]uint32
	once sync.Once
	gone error
}

// step is one part of building a link.
type step struct {
	name string
	do   func(context.Context) error
}

// Connect builds a link and returns when frames pass in both directions, the
// hosts know each other's Ethernet addresses, and everything that was asked
// for has been read back. On an error nothing of the link is left.
func (l *Lab) Connect(ctx context.Context, c LinkConfig) (*Link, error) {
	if err := Check(c); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil { // for the defaults
		return nil, err
	}
	k := &Link{lab: l, cfg: c}
	l.mu.Lock()
	taken := l.link != nil
	if !taken {
		l.link = k
	}
	l.mu.Unlock()
	if taken {
		return nil, errors.New("connect the hosts: they have a link; close it first")
	}
	for _, s := range k.steps() {
		err := ctx.Err()
		if err == nil && l.before != nil {
			err = l.before(s.name)
		}
		if err == nil {
			err = s.do(ctx)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("build link %s, context %s: %s: %w", c.Kind, c.Context, s.name, err), k.Close())
		}
	}
	return k, nil
}

// steps lists how the link is built.
func (k *Link) steps() []step {
	s := k.vethSteps()
	if k.cfg.Kind == Ether {
		s = k.etherSteps()
	}
	if k.cfg.Busy != "" {
		s = append(s, step{"keep a CPU busy", k.makeBusy})
	}
	return append(s,
		step{"set the interfaces up", k.setUp},
		step{"set addresses and neighbours", k.address},
		step{"choose the context", k.thread},
		step{"read the settings back", k.verify},
		step{"pass a frame each way", k.exchange},
		step{"see where frames are handled", k.handled},
	)
}

// AddrA is host a's IPv4 address on the link.
func (k *Link) AddrA() netip.Addr { return k.lab.A.addr.Addr() }

// AddrB is host b's IPv4 address on the link.
func (k *Link) AddrB() netip.Addr { return k.lab.B.addr.Addr() }

// Addr6A is host a's IPv6 address on the link; the zero Addr where the kernel
// has no IPv6.
func (k *Link) Addr6A() netip.Addr { return k.ipv6(k.lab.A) }

// Addr6B is host b's, likewise.
func (k *Link) Addr6B() netip.Addr { return k.ipv6(k.lab.B) }

func (k *Link) ipv6(h *Host) netip.Addr {
	if !k.lab.ipv6 {
		return netip.Addr{}
	}
	return h.addr6.Addr()
}

// Config is what the link was built from, defaults filled in.
func (k *Link) Config() LinkConfig { return k.cfg }

// Err tells why the link broke by itself (the wire process died); nil while
// it works.
func (k *Link) Err() error {
	if k.wire == nil {
		return nil
	}
	return k.wire.Err()
}

// Warnings are what the link could not have but can do without.
func (k *Link) Warnings() []string {
	if k.wire == nil {
		return slices.Clone(k.warnings)
	}
	return slices.Concat(k.warnings, k.wire.Warnings())
}

// Close takes the link down and returns when the hosts have no interfaces of
// it any more and its processes have ended. Later calls repeat the first
// one's answer.
func (k *Link) Close() error {
	k.once.Do(func() {
		k.gone = k.takeDown()
		k.lab.mu.Lock()
		k.lab.link = nil
		k.lab.mu.Unlock()
	})
	return k.gone
}

// takeDown leaves the end of the interfaces' destruction to the background:
// the kernel unlists an interface within a millisecond, and then waits for
// tens of milliseconds, asleep, until nobody can be looking at it
// (netdev_run_todo in net/core/dev.c).
func (k *Link) takeDown() error {
	var errs []error
	if k.wire != nil {
		errs = append(errs, k.wire.Close())
	}
	if k.busy != nil {
		errs = append(errs, k.busy.Close())
	}
	for _, tap := range k.taps {
		k.lab.reap(tap.Close)
	}
	if k.cfg.Kind == Veth {
		errs = append(errs, k.removeVeth())
	}
	for _, h := range k.hosts() {
		errs = append(errs, h.waitGone())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take link %s down: %w", k.cfg.Kind, err)
	}
	return nil
}

func (k *Link) hosts() [2]*Host { return [2]*Host{k.lab.A, k.lab.B} }

// onBoth calls fn for both hosts, until an error.
func (k *Link) onBoth(fn func(h, peer *Host) error) error {
	a, b := k.lab.A, k.lab.B
	if err := fn(a, b); err != nil {
		return fmt.Errorf("host %s: %w", a.Name, err)
	}
	if err := fn(b, a); err != nil {
		return fmt.Errorf("host %s: %w", b.Name, err)
	}
	return nil
}
