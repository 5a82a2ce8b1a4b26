package run

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/ctl"
	"netdelta/internal/spec"
)

// single makes the bench's plan one of a single variant.
func single(b *bench) {
	b.cfg.Plan.Factors, b.cfg.Plan.Baseline, b.cfg.Plan.Margin = nil, nil, 0
}

// A plan of one variant runs each test once in each block, in random order.
func TestSingle(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if got := keys(b.trials); !slices.Equal(got, scheduled(b.cfg.Plan)) || len(got) != 6 {
			t.Errorf("trials %q, want %q", got, scheduled(b.cfg.Plan))
		}
		for _, p := range b.shown {
			if p.Variant != "" {
				t.Errorf("a variant %q is shown", p.Variant)
			}
		}
	})
}

func TestSingleStops(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		b.cfg.Plan.Tests = b.cfg.Plan.Tests[1:]
		b.fail = from("b arm", 2, errBroken)
		err := Run(t.Context(), b.cfg)
		if !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "after 1 of 3 trials: trial 2, udp_rr size=1: failed 2 times: host b: arm: ") {
			t.Errorf("got %v", err)
		}
	})
}

// A trial that needed a second attempt says why.
func TestRepeatedIsTold(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		b.cfg.Plan.Tests = b.cfg.Plan.Tests[1:]
		b.fail = at("b arm", 2, errBroken)
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		for i, tr := range b.trials {
			switch {
			case i != 1 && len(tr.Warnings) == 0:
			case i == 1 && len(tr.Warnings) == 1 && tr.Warnings[0].Code == CodeRepeated && strings.Contains(tr.Warnings[0].Text, errBroken.Error()):
			default:
				t.Errorf("trial %d: warnings %v", i, tr.Warnings)
			}
		}
	})
}

// An address that is left open is the agent's to choose, and the far end is
// told what it is.
func TestLocalAddressLeftOpen(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		b.cfg.Plan.Tests = b.cfg.Plan.Tests[1:]
		b.path = func(p *Path) {
			p.LocalAddr, p.RemoteAddr = netip.IPv4Unspecified(), netip.MustParseAddr("127.0.0.3")
		}
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if got := b.given("a"); got.Peer != netip.MustParseAddr("127.0.0.3") || got.Addr.IsUnspecified() {
			t.Errorf("the local worker was given %+v", got)
		}
		if got, want := b.armed["b"].Addr(), b.given("a").Addr; got != want {
			t.Errorf("the remote end's peer is %v, want %v", got, want)
		}
		if w := b.trials[0].Warnings; len(w) != 1 || w[0].Code != CodeLoopback {
			t.Errorf("warnings %v", w)
		}
	})
}

// What the trial is about reaches the workers.
func TestIntervalReachesWorkers(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		b.cfg.Plan.Interval, b.cfg.Live = spec.MinInterval, true
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		for host, cfg := range b.took {
			if cfg.Interval != spec.MinInterval || !cfg.Live {
				t.Errorf("host %s was given %+v", host, cfg)
			}
		}
	})
}

// A plan that compares and one that does not are held to different rules.
func TestPlanIsChecked(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		single(b)
		b.cfg.Plan.Margin = 0.02
		if err := Run(t.Context(), b.cfg); err == nil || errors.Is(err, ErrStopped) || errors.Is(err, ctl.ErrLost) {
			t.Errorf("got %v", err)
		}
	})
}
