package run

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

var errBroken = errors.New("bind: address already in use")

// on runs body with a bench, in a bubble of its own.
func on(t *testing.T, body func(*testing.T, *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := set(t, newRig(), plan(t))
		defer b.stop()
		body(t, b)
	})
}

func TestWholePlan(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(scheduled(b.cfg.Plan), keys(b.trials)); d != "" {
			t.Errorf("trials (-want +got)\n%s", d)
		}
		for i, tr := range b.trials {
			if tr.Schema != result.Schema || tr.Order != i || tr.Attempt != 1 || tr.Start.IsZero() {
				t.Errorf("trial %d: schema %q, order %d, attempt %d, start %v", i, tr.Schema, tr.Order, tr.Attempt, tr.Start)
			}
			if tr.Local.Messages != 5 || (tr.Remote != nil) != hasRemote(tr.Test) {
				t.Errorf("trial %d of %s: local %+v, remote %+v", i, tr.Test, tr.Local, tr.Remote)
			}
			if tr.Remote != nil && tr.Remote.Messages != 4 {
				t.Errorf("trial %d: remote %+v", i, tr.Remote)
			}
			if want := map[string]int64{"frames": 10}; !cmp.Equal(tr.Path.Counts, want) {
				t.Errorf("trial %d: the link counted %v, want %v", i, tr.Path.Counts, want)
			}
			if len(tr.Warnings) > 0 {
				t.Errorf("trial %d: warnings %+v", i, tr.Warnings)
			}
		}
	})
}

// What each host is told, and when.
func TestSteps(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.cfg.Plan.Tests = b.cfg.Plan.Tests[1:] // udp_rr
		b.cfg.Plan.Blocks = 2                   // in the first one, each variant's CPUs are looked at
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, s := range b.cfg.Plan.Schedule() {
			want = append(want, "apply "+s.Variant["rx"], "a prepare", "b prepare", "b arm", "a arm",
				"counts", "b run", "a run", "b drain", "counts", "close")
		}
		got := slices.Clone(b.log)
		for i := range got[:len(got)-1] { // the two prepare at the same time
			if got[i] == "b prepare" && got[i+1] == "a prepare" {
				got[i], got[i+1] = got[i+1], got[i]
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("steps (-want +got)\n%s", d)
		}
		test := b.cfg.Plan.Tests[0]
		for host, want := range map[string]traffic.Config{
			"a": {Role: result.Local, Test: test, Warmup: b.cfg.Plan.Warmup, Window: b.cfg.Plan.Window, CPU: 0, Addr: addrA},
			"b": {Role: result.Remote, Test: test, Warmup: b.cfg.Plan.Warmup, Window: b.cfg.Plan.Window, CPU: 1, Addr: addrB},
		} {
			if !reflect.DeepEqual(b.given(host), want) {
				t.Errorf("host %s was given %+v, want %+v", host, b.given(host), want)
			}
		}
		if a, z := b.armed["a"].String(), b.armed["b"].String(); a != "192.0.2.2:1002" || z != "192.0.2.1:1001" {
			t.Errorf("a's peer is %s, b's is %s", a, z)
		}
	})
}

// An echo has no remote end: nothing is asked of that host, nor is it needed.
func TestEcho(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.cfg.Plan.Tests = b.cfg.Plan.Tests[:1]
		b.cfg.Plan.Blocks = 1
		b.cfg.Remote = nil
		if err := Run(t.Context(), b.cfg); err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(b.log, func(s string) bool { return strings.HasPrefix(s, "b ") }); i >= 0 {
			t.Errorf("the far host was asked to %s", b.log[i])
		}
		if a := b.armed["a"].String(); a != "192.0.2.2:0" {
			t.Errorf("a's peer is %s", a)
		}
		if len(b.trials) != 2 {
			t.Errorf("got %d trials, want 2", len(b.trials))
		}
	})
}

// one reduces the plan to one test and one block: two trials, each with a
// path of its own.
func one(b *bench) {
	b.cfg.Plan.Tests = b.cfg.Plan.Tests[1:]
	b.cfg.Plan.Blocks = 1
}

// An interrupt in the middle of a window: that trial is given up at both
// hosts, the finished ones stay.
func TestInterrupt(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		b.fail = func(step string, nth int) error {
			if step == "a run" && nth == 6 {
				cancel()
			}
			return nil
		}
		err := Run(ctx, b.cfg)
		if !errors.Is(err, ErrInterrupted) || errors.Is(err, ErrStopped) {
			t.Errorf("got %v, want %v", err, ErrInterrupted)
		}
		if err == nil || !strings.Contains(err.Error(), "after 5 of 12 trials") {
			t.Errorf("error %q does not tell how far it came", err)
		}
		if d := cmp.Diff(scheduled(b.cfg.Plan)[:5], keys(b.trials)); d != "" {
			t.Errorf("trials (-want +got)\n%s", d)
		}
		if b.alive != 0 || b.paths != 0 {
			t.Errorf("%d workers and %d paths when Run had returned", b.alive, b.paths)
		}
	})
}

func TestInterruptedBeforehand(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Run(ctx, b.cfg); !errors.Is(err, ErrInterrupted) {
			t.Errorf("got %v, want %v", err, ErrInterrupted)
		}
		if len(b.log) > 0 {
			t.Errorf("did %v", b.log)
		}
	})
}

func TestCannotBegin(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		for _, c := range []struct {
			name   string
			change func(*Config)
			want   string
		}{
			{"plan", func(c *Config) { c.Plan.Blocks = 0 }, "blocks 0 is out of range"},
			{"setup", func(c *Config) { c.Setup = nil }, "setup"},
			{"sink", func(c *Config) { c.Sink = nil }, "sink"},
			{"local", func(c *Config) { c.Local = nil }, "local agent"},
			{"remote", func(c *Config) { c.Remote = nil }, "test udp_rr size=1 needs an agent"},
		} {
			cfg := b.cfg
			c.change(&cfg)
			err := Run(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrStopped) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
		}
		if len(b.log) > 0 {
			t.Errorf("did %v", b.log)
		}
	})
}

// BenchmarkTrial is what the control protocol costs a trial: seven calls and
// their agents, with workers that do nothing.
func BenchmarkTrial(b *testing.B) {
	g := newRig()
	g.instant = true
	p := plan(b)
	p.Tests = p.Tests[1:] // udp_rr
	p.Blocks = (b.N + 1) / 2
	bench := set(b, g, p)
	defer bench.stop()
	b.ResetTimer()
	if err := Run(b.Context(), bench.cfg); err != nil {
		b.Fatal(err)
	}
}
