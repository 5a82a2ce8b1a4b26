package agent

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// start brings both ends of a test to the point where the local one can run.
func (x *bench) start(t *testing.T, local, remote *ctl.Session, test string, window time.Duration) error {
	t.Helper()
	ctx := t.Context()
	if _, err := local.Prepare(ctx, x.settings(t, test, result.Local, window)); err != nil {
		return err
	}
	if test == "icmp_echo" {
		return local.Arm(ctx, netip.AddrPortFrom(x.link.AddrB(), 0))
	}
	if _, err := remote.Prepare(ctx, x.settings(t, test, result.Remote, window)); err != nil {
		return err
	}
	if err := remote.Arm(ctx, local.Bound()); err != nil {
		return err
	}
	if err := local.Arm(ctx, remote.Bound()); err != nil {
		return err
	}
	_, err := remote.Run(ctx)
	return err
}

// trial makes a whole trial and returns both ends' figures.
func (x *bench) trial(t *testing.T, local, remote *ctl.Session, test string) (l, r *result.End, err error) {
	t.Helper()
	if err := x.start(t, local, remote, test, spec.MinWindow); err != nil {
		return nil, nil, err
	}
	if l, err = local.Run(t.Context()); err != nil || test == "icmp_echo" {
		return l, nil, err
	}
	r, err = remote.Drain(t.Context())
	return l, r, err
}

// Every kind of test works between agents over a secured connection, with
// addresses that the agents choose, and at ports of the range.
func TestMeasure(t *testing.T) {
	ports := Ports{7118, 7119}
	x := newBench(t, Config{DataPorts: ports})
	c := dial(t, "b", x.way, ctl.Options{})
	local, remote := open(t, x.a), open(t, c)
	for _, test := range []string{"icmp_echo", "udp_rr", "tcp_rr", "udp_stream", "tcp_stream", "tcp_rr", "tcp_stream", "tcp_rr"} {
		l, r, err := x.trial(t, local, remote, test)
		if err != nil {
			t.Fatalf("%s: %v", test, err)
		}
		if l.Messages == 0 && l.Counts[traffic.CountSent] == 0 {
			t.Errorf("%s: the local end did nothing: %+v", test, l)
		}
		if got := local.Bound().Addr(); got != x.link.AddrA() {
			t.Errorf("%s: the local end is at %v, want %v", test, got, x.link.AddrA())
		}
		if r == nil {
			continue
		}
		// On a machine that is starved of CPUs there may be but one message,
		// with which the remote end's window begins.
		if r.Messages == 0 && l.Messages > 1 {
			t.Errorf("%s: nothing came to the remote end: %+v; the local end %+v", test, r, l)
		}
		if at := remote.Bound(); at.Addr() != x.link.AddrB() || at.Port() < ports.Min || at.Port() > ports.Max {
			t.Errorf("%s: the remote end is at %v, want one of %v at %v", test, at, x.link.AddrB(), ports)
		}
	}
}

// A host that is reached by IPv6 is measured by IPv6, with nothing said of
// either end's address.
func TestMeasureIPv6(t *testing.T) {
	x := newBench(t, Config{})
	if !x.link.Addr6B().IsValid() {
		labtest.Skip(t, errors.New("this kernel has no IPv6"))
	}
	x.way.Addr = x.link.Addr6B().String()
	c := dial(t, "b", x.way, ctl.Options{})
	if got := c.RemoteAddr().Addr(); got != x.link.Addr6B() {
		t.Errorf("the agent was reached at %v, want %v", got, x.link.Addr6B())
	}
	local, remote := open(t, x.a), open(t, c)
	ctx := t.Context()
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		cfg := x.settings(t, test, result.Local, spec.MinWindow)
		cfg.Addr, cfg.Peer = netip.IPv6Unspecified(), c.RemoteAddr().Addr()
		if _, err := local.Prepare(ctx, cfg); err != nil {
			t.Fatal(err)
		}
		cfg.Role, cfg.Peer = result.Remote, c.LocalAddr().Addr()
		if _, err := remote.Prepare(ctx, cfg); err != nil {
			t.Fatal(err)
		}
		if local.Bound().Addr() != x.link.Addr6A() || remote.Bound().Addr() != x.link.Addr6B() {
			t.Errorf("%s: from %v to %v", test, local.Bound(), remote.Bound())
		}
		if err := remote.Arm(ctx, local.Bound()); err != nil {
			t.Fatal(err)
		}
		if err := local.Arm(ctx, remote.Bound()); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Run(ctx); err != nil {
			t.Fatal(err)
		}
		own, err := local.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if end, err := remote.Drain(ctx); err != nil || end.Messages == 0 && own.Messages > 1 {
			t.Errorf("%s: got %+v, error %v; the local end %+v", test, end, err, own)
		}
	}
}

// A range that is used up is a clear error, and the next trial has the port
// when the first is over.
func TestPortsUsedUp(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		t.Run(test, func(t *testing.T) {
			x := newBench(t, Config{DataPorts: Ports{7118, 7118}})
			c := dial(t, "b", x.way, ctl.Options{})
			first, second := open(t, c), open(t, c)
			cfg := x.settings(t, test, result.Remote, time.Minute)
			if _, err := first.Prepare(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			_, err := second.Prepare(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), "every data port from 7118 to 7118 is in use") || !strings.Contains(err.Error(), "--data-ports") {
				t.Errorf("got %v", err)
			}
			if err := first.Abort(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := second.Prepare(t.Context(), cfg); err != nil {
				t.Errorf("when the port is free again: %v", err)
			}
		})
	}
}

// 500 connections that say nothing, or nonsense, do not disturb a client that
// measures.
func TestMeasureAmongIdlers(t *testing.T) {
	x := newBench(t, Config{})
	c := dial(t, "b", x.way, ctl.Options{})
	local, remote := open(t, x.a), open(t, c)
	var crowd []net.Conn
	defer func() {
		for _, c := range crowd {
			c.Close()
		}
	}()
	for i := range 500 {
		err := x.lab.A.NS.Do(func() error {
			conn, err := net.Dial("tcp", x.way.String())
			if err == nil {
				crowd = append(crowd, conn)
				conn.Write([]byte("nonsense")[:i%9])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if i%250 == 249 {
			if l, r, err := x.trial(t, local, remote, "udp_rr"); err != nil || r.Messages == 0 && l.Messages > 1 {
				t.Fatalf("among %d: %+v, error %v", i+1, r, err)
			}
			again := dial(t, "b", x.way, ctl.Options{})
			if _, err := again.Environment(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A link that is cut at any point of a trial ends it at both ends within
// seconds; the host is free, its worker gone, and when the link is back the
// next trial goes well.
func TestCutAnywhere(t *testing.T) {
	for _, at := range []string{"before", "within", "after"} {
		t.Run(at, func(t *testing.T) {
			x := newBench(t, Config{MaxSessions: 1})
			c := dial(t, "b", x.way, ctl.Options{Bound: time.Minute})
			local, remote := open(t, x.a), open(t, c)
			var err error
			began := time.Now()
			switch at {
			case "before":
				if err := x.start(t, local, remote, "udp_rr", spec.MinWindow); err != nil {
					t.Fatal(err)
				}
				x.setUp(t, false)
				_, err = remote.Run(t.Context()) // a step that is out of order, if it comes through
			case "within":
				if err := x.start(t, local, remote, "udp_rr", 2*time.Second); err != nil {
					t.Fatal(err)
				}
				var runs sync.WaitGroup
				ctx, cancel := context.WithCancel(t.Context())
				runs.Go(func() { local.Run(ctx) })
				x.setUp(t, false)
				<-remote.Done() // nobody asks it anything
				_, err = remote.Drain(t.Context())
				cancel()
				runs.Wait()
			case "after":
				if err := x.start(t, local, remote, "udp_rr", spec.MinWindow); err != nil {
					t.Fatal(err)
				}
				if _, err := local.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				x.setUp(t, false)
				_, err = remote.Drain(t.Context())
			}
			if !errors.Is(err, ctl.ErrUnreachable) && !errors.Is(err, ctl.ErrLost) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %v or %v", err, ctl.ErrUnreachable, ctl.ErrLost)
			}
			x.b.open.Wait() // the agent's own end of the session
			if d := time.Since(began); d > 20*dead {
				t.Errorf("it took %v", d)
			}
			local.Close()
			x.here.open.Wait()
			if left, err := labtest.Children(os.Getpid()); err != nil || len(left) > 0 {
				t.Errorf("workers are left: %v, error %v", left, err)
			}

			x.setUp(t, true)
			again := dial(t, "b", x.way, ctl.Options{Bound: time.Minute})
			if _, _, err := x.trial(t, open(t, x.a), open(t, again), "udp_rr"); err != nil {
				t.Errorf("when the link is back: %v", err)
			}
		})
	}
}

// The facts of a host come from the host.
func TestEnvironment(t *testing.T) {
	x := newBench(t, Config{})
	facts, err := dial(t, "b", x.way, ctl.Options{}).Environment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, f := range facts {
		names[f.Name] = f.Value
	}
	if names["kernel"] == "" || names["system"] == "" {
		t.Errorf("got %v", facts)
	}
}
