package main

import (
	"context"
	"errors"
	"net/netip"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
	"netdelta/internal/worker"
)

// ours is netdelta's own instrument, as its agents run it. The test is written
// as for --tests.
func ours(name, test string) tool {
	return tool{name: name, run: func(ctx context.Context, p place) (figures, error) {
		tests, err := spec.ParseTests(test, nil)
		if err != nil {
			return nil, err
		}
		x := result.Trial{Test: tests[0]}
		if err := p.trial(ctx, &x); err != nil {
			return nil, err
		}
		f := figures{}
		for _, m := range x.Metrics() {
			switch m.Name {
			case result.Rate, result.Packets:
				f[rate] = m.Value
			case result.Goodput:
				f[goodput] = m.Value
			case result.RTTP999:
				f[p999] = m.Value
			case result.ZeroCopied:
				f[copied] = m.Value
			}
		}
		if x.Test.Kind().IsStream() {
			if mb := float64(x.Local.Bytes) / 1e6; mb > 0 {
				f[sends] = float64(x.Local.Counts[traffic.CountSendCalls]) / mb
			}
			if mb := float64(x.Remote.Bytes) / 1e6; mb > 0 {
				f[recvs] = float64(x.Remote.Counts[traffic.CountReceiveCalls]) / mb
			}
		}
		return f, nil
	}}
}

// trial runs one trial between two workers.
func (p place) trial(ctx context.Context, x *result.Trial) (err error) {
	cfg := traffic.Config{Test: x.Test, Warmup: p.length / 10, Window: p.length}
	remote, port, err := start(ctx, p.lab.B.NS, cfg, result.Remote, p.link.AddrB(), p.server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remote.Close()) }()
	local, own, err := start(ctx, p.lab.A.NS, cfg, result.Local, p.link.AddrA(), p.client)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	if err := remote.Arm(ctx, netip.AddrPortFrom(p.link.AddrA(), own)); err != nil {
		return err
	}
	if err := local.Arm(ctx, netip.AddrPortFrom(p.link.AddrB(), port)); err != nil {
		return err
	}
	if _, err := remote.Run(ctx); err != nil {
		return err
	}
	end, err := local.Run(ctx)
	if err != nil {
		return err
	}
	x.Local = *end
	x.Remote, err = remote.Drain(ctx)
	return err
}

func start(ctx context.Context, ns *sys.NetNS, cfg traffic.Config, role string, addr netip.Addr, cpu int) (*worker.Worker, uint16, error) {
	cfg.Role, cfg.Addr, cfg.CPU = role, addr, cpu
	w, err := worker.Start(ns)
	if err != nil {
		return nil, 0, err
	}
	port, err := w.Prepare(ctx, cfg)
	if err != nil {
		return nil, 0, errors.Join(err, w.Close())
	}
	return w, port, nil
}
