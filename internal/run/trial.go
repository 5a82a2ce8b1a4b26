package run

import (
	"context"
	"fmt"
	"net/netip"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// trial carries out one attempt and fills in its record. The remote end is
// always a step ahead, so that nothing is sent to a socket that is not there.
func (r *runner) trial(ctx context.Context, t *result.Trial) error {
	far := hasRemote(t.Test)
	peers, err := r.prepare(ctx, t, far)
	if err != nil {
		return err
	}
	if far {
		if err := r.remote.Arm(ctx, peers.local); err != nil {
			return err
		}
	}
	if err := r.local.Arm(ctx, peers.remote); err != nil {
		return err
	}
	before, err := r.counts()
	if err != nil {
		return err
	}
	if far {
		if _, err := r.remote.Run(ctx); err != nil {
			return err
		}
	}

	start := r.clock()
	t.Start = start.wall
	local, err := r.local.Run(ctx)
	if err != nil {
		return err
	}
	if err := checkRole(r.Local, local, result.Local); err != nil {
		return err
	}
	t.Local = *local
	if far {
		if t.Remote, err = r.remote.Drain(ctx); err != nil {
			return err
		}
		if err := checkRole(r.Remote, t.Remote, result.Remote); err != nil {
			return err
		}
	}
	end := r.clock()

	after, err := r.counts()
	if err != nil {
		return err
	}
	var odd []result.Warning
	t.Path.Counts, odd = deltas(before, after)
	t.Warnings = append(t.Warnings, r.path.Warnings...)
	t.Warnings = append(t.Warnings, odd...)
	t.Warnings = append(t.Warnings, oversubscribed(r.CPUs, r.path, t.Test)...)
	t.Warnings = append(t.Warnings, clockStep(start, end)...)
	t.Warnings = append(t.Warnings, overrun(&t.Local, r.Plan.Window)...)
	t.Warnings = append(t.Warnings, overrun(t.Remote, r.Plan.Window)...)
	return nil
}

// peers are the two ends' addresses on the path.
type peers struct{ local, remote netip.AddrPort }

// prepare has both workers made at the same time: starting a process is most
// of what a trial costs beside its window.
func (r *runner) prepare(ctx context.Context, t *result.Trial, far bool) (peers, error) {
	start := func(s *ctl.Session, role string, cpu int, addr netip.Addr) (netip.AddrPort, error) {
		port, err := s.Prepare(ctx, traffic.Config{
			Role:   role,
			Test:   t.Test,
			Warmup: r.Plan.Warmup,
			Window: r.Plan.Window,
			CPU:    cpu,
			Addr:   addr,
		})
		return netip.AddrPortFrom(addr, port), err
	}
	p := peers{remote: netip.AddrPortFrom(r.path.RemoteAddr, 0)}
	err := both(
		func() (err error) {
			p.local, err = start(r.local, result.Local, r.path.LocalCPU, r.path.LocalAddr)
			return err
		},
		func() (err error) {
			if far {
				p.remote, err = start(r.remote, result.Remote, r.path.RemoteCPU, r.path.RemoteAddr)
			}
			return err
		},
	)
	return p, err
}

// checkRole guards against a host that answers for the wrong end, or with
// nothing.
func checkRole(c *ctl.Client, e *result.End, want string) error {
	switch {
	case e == nil:
		return fmt.Errorf("host %s: the %s end answered without figures", c.Host(), want)
	case e.Role != want:
		return fmt.Errorf("host %s: figures of the %s end came where the %s end's were due", c.Host(), e.Role, want)
	}
	return nil
}

func (r *runner) counts() (map[string]int64, error) {
	if r.path.Counts == nil {
		return nil, nil
	}
	c, err := r.path.Counts()
	if err != nil {
		return nil, fmt.Errorf("read the link's counters: %w", err)
	}
	return c, nil
}
