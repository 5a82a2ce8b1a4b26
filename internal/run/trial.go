package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// trial carries out one attempt and fills in its record. The remote end is
// always a step ahead, so that nothing is sent to a socket that is not there.
func (r *runner) trial(ctx context.Context, t *result.Trial) error {
	far := hasRemote(t.Test)
	rest := r.baselines(restKey(&r.Plan, t.Variant))
	t.Warmup, t.Window = r.Plan.Warmup, r.Plan.Window
	peers, err := r.ready(ctx, traffic.Config{
		Test:     t.Test,
		Warmup:   r.Plan.Warmup,
		Window:   r.Plan.Window,
		Interval: r.Plan.Interval,
		Each:     r.eachOf(t.Test),
		Live:     r.Live,
		Counters: r.sources(t.Test),
		Soak:     r.Plan.Soak,
		Baseline: rest.due(far),
	}, far)
	if err != nil {
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
		if far {
			err = r.farReason(ctx, err)
		}
		return err
	}
	if err := checkEnd(r.Local, local, result.Local); err != nil {
		return err
	}
	t.Local = *local
	if far {
		if t.Remote, err = r.remote.Drain(ctx); err != nil {
			return err
		}
		if err := checkEnd(r.Remote, t.Remote, result.Remote); err != nil {
			return err
		}
	}
	end := r.clock()
	rest.keep(t)

	after, err := r.counts()
	if err != nil {
		return err
	}
	var odd []result.Warning
	t.Path.Counts, odd = deltas(before, after)
	t.Warnings = append(t.Warnings, r.path.Warnings...)
	t.Warnings = append(t.Warnings, loopback(peers)...)
	t.Warnings = append(t.Warnings, odd...)
	t.Warnings = append(t.Warnings, oversubscribed(r.CPUs, r.path, t.Test)...)
	t.Warnings = append(t.Warnings, clockStep(start, end)...)
	t.Warnings = append(t.Warnings, overrun(&t.Local, r.Plan.Window)...)
	t.Warnings = append(t.Warnings, overrun(t.Remote, r.Plan.Window)...)
	return nil
}

// farBound is how long the remote end may take to say why it has ended.
const farBound = 2 * time.Second

// farReason is why a trial failed whose local end did. That may be no more than
// what the remote end's failure led to, a connection that was closed: then it is
// the remote end's error.
func (r *runner) farReason(ctx context.Context, local error) error {
	if !ownError(local) || errors.Is(local, feature.ErrUnavailable) {
		return local
	}
	ctx, cancel := context.WithTimeout(ctx, farBound)
	defer cancel()
	if _, err := r.remote.Drain(ctx); ownError(err) {
		return err
	}
	return local
}

// ownError says that an error is of the end itself, rather than of the way to
// its host or of the order of steps there.
func ownError(err error) bool {
	var step *ctl.Error
	return errors.As(err, &step) && (step.Kind == nil || errors.Is(err, feature.ErrUnavailable) || errors.Is(err, fs.ErrPermission))
}

// peers are the two ends' addresses on the path.
type peers struct{ local, remote netip.AddrPort }

// ready prepares and arms both ends with the given settings.
func (r *runner) ready(ctx context.Context, cfg traffic.Config, far bool) (peers, error) {
	p, err := r.prepare(ctx, cfg, far)
	if err == nil && far {
		err = r.remote.Arm(ctx, p.local)
	}
	if err == nil {
		err = r.local.Arm(ctx, p.remote)
	}
	return p, err
}

// prepare has both workers made at the same time: starting a process is most
// of what a trial costs beside its window. What is each end's own in the
// settings is filled in here.
func (r *runner) prepare(ctx context.Context, cfg traffic.Config, far bool) (peers, error) {
	start := func(s *ctl.Session, own traffic.Config, peer netip.Addr) (netip.AddrPort, error) {
		own.Test, own.Warmup, own.Window, own.Interval, own.Live = cfg.Test, cfg.Warmup, cfg.Window, cfg.Interval, cfg.Live
		own.Counters, own.Soak, own.Baseline = cfg.Counters, cfg.Soak, cfg.Baseline
		own.OneMachine, own.CPUScope = r.path.OneMachine, r.path.scope(own.Role)
		if own.Role == result.Local {
			own.Each = cfg.Each
		}
		if own.Addr.IsUnspecified() {
			own.Peer = peer
		}
		_, err := s.Prepare(ctx, own)
		return s.Bound(), err
	}
	p := peers{remote: netip.AddrPortFrom(r.path.RemoteAddr, 0)}
	err := both(
		func() (err error) {
			p.local, err = start(r.local, r.path.localEnd(), r.path.RemoteAddr)
			if err == nil {
				r.localAddr = p.local.Addr()
			}
			return err
		},
		func() (err error) {
			if far {
				p.remote, err = start(r.remote, r.path.remoteEnd(), netip.Addr{})
			}
			return err
		},
	)
	return p, err
}

// localEnd and remoteEnd are each end's own part of the settings.
func (p *Path) localEnd() traffic.Config {
	return traffic.Config{Role: result.Local, CPU: p.LocalCPU, CPUs: p.LocalCPUs, Addr: p.LocalAddr, Device: p.LocalDevice, Port: p.LocalPort}
}

func (p *Path) remoteEnd() traffic.Config {
	return traffic.Config{Role: result.Remote, CPU: p.RemoteCPU, CPUs: p.RemoteCPUs, Addr: p.RemoteAddr, Device: p.RemoteDevice, Port: p.RemotePort}
}

// checkEnd guards against a host that answers for the wrong end, with nothing
// or with what can't be.
func checkEnd(c *ctl.Client, e *result.End, want string) error {
	switch {
	case e == nil:
		return fmt.Errorf("host %s: the %s end answered without figures", c.Host(), want)
	case e.Role != want:
		return fmt.Errorf("host %s: figures of the %s end came where the %s end's were due", c.Host(), e.Role, want)
	}
	if err := e.Validate(); err != nil {
		return fmt.Errorf("host %s: %w", c.Host(), err)
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
