package hosts

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// Seen is one end as a checkup saw it.
type Seen struct {
	End, Host, Version string
	Facts              []result.Fact
	Look               *result.Counters // nil where it could not be looked at
	Unseen             string           // why
}

// Checkup is both ends as they are, and the path between them.
type Checkup struct {
	Ends     []Seen
	Loopback bool
}

// Checkup asks both hosts for their facts and looks for so long at what they
// do. One that is too old to be looked at, or that is measuring for others, is
// told by its facts alone.
func (p *Path) Checkup(ctx context.Context, d time.Duration) (Checkup, error) {
	path, err := p.Apply(ctx, spec.Variant{})
	if err != nil {
		return Checkup{}, err
	}
	environments, err := p.Pair.Environments(ctx)
	if err != nil {
		return Checkup{}, err
	}
	c := Checkup{Ends: make([]Seen, 2), Loopback: p.loops(path)}
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i, e := range []struct {
		c         *ctl.Client
		own, peer netip.Addr
	}{{p.Pair.Local, path.LocalAddr, path.RemoteAddr}, {p.Pair.Remote, path.RemoteAddr, netip.Addr{}}} {
		both.Go(func() {
			c.Ends[i], errs[i] = see(ctx, e.c, environments[i], ctl.Look{Addr: e.own, Peer: e.peer, Length: d})
		})
	}
	both.Wait()
	return c, and(errs[0], errs[1])
}

// loops says that the path begins and ends at one host's addresses. Of two
// agents elsewhere it is known where both were reached at one address, which is
// also the path's.
func (p *Path) loops(path run.Path) bool {
	switch {
	case path.RemoteAddr.IsLoopback():
		return true
	case p.Pair.here:
		return path.RemoteAddr == path.LocalAddr || isOwn(path.RemoteAddr)
	}
	return path.RemoteAddr == path.LocalAddr || path.RemoteAddr == p.Pair.Local.RemoteAddr().Addr()
}

// CheckupHere looks at this host alone.
func CheckupHere(ctx context.Context, c *ctl.Client, d time.Duration) (Checkup, error) {
	e, err := environment(ctx, c, result.Local)
	if err != nil {
		return Checkup{}, err
	}
	s, err := see(ctx, c, e, ctl.Look{Length: d})
	return Checkup{Ends: []Seen{s}}, err
}

// see looks at one end.
func see(ctx context.Context, c *ctl.Client, e result.Environment, l ctl.Look) (Seen, error) {
	h := c.Hello()
	s := Seen{End: e.End, Host: h.Hostname, Version: h.Version, Facts: e.Facts}
	var err error
	s.Look, err = c.Checkup(ctx, l)
	var told *ctl.Error
	switch {
	case err == nil:
	case (errors.Is(err, feature.ErrUnavailable) || errors.Is(err, ctl.ErrBusy)) && errors.As(err, &told):
		s.Look, s.Unseen = nil, told.Text
	default:
		return s, fmt.Errorf("look at the %s end: %w", e.End, err)
	}
	return s, nil
}
