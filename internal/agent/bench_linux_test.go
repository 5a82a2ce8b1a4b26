package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/ctl"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// within is a way to an agent that begins in a network namespace.
type within struct {
	ctl.TCP
	ns *sys.NetNS
}

func (w within) Dial(ctx context.Context) (c net.Conn, err error) {
	failed := w.ns.Do(func() error { c, err = w.TCP.Dial(ctx); return nil })
	if failed != nil {
		return nil, failed
	}
	return c, err
}

// bench is two hosts with real agents: the one on b is reached over the link,
// the one on a within the process.
type bench struct {
	lab  *netlab.Lab
	link *netlab.Link
	b    *Agent
	way  within
	here *Agent // a's
	a    *ctl.Client
}

// dead is how long a peer may be silent in these tests.
const dead = time.Second

func newBench(t *testing.T, cfg Config) *bench {
	t.Helper()
	lab, link := newLink(t)
	secret := ctl.NewSecret()
	tcp := ctl.TCP{Addr: link.AddrB().String(), Secret: secret, Dead: dead}
	x := &bench{lab: lab, link: link, way: within{tcp, lab.A.NS}}
	everywhere := tcp
	everywhere.Addr = fmt.Sprintf(":%d", ctl.DefaultPort)
	var l net.Listener
	if err := lab.B.NS.Do(func() (err error) { l, err = everywhere.Listen(nil); return err }); err != nil {
		t.Fatal(err)
	}
	cfg.NS, cfg.Name = lab.B.NS, "b"
	x.b = New(cfg)
	serve(t, x.b, l)
	p := ctl.NewPipe()
	x.here = New(Config{NS: lab.A.NS, Name: "a"})
	serve(t, x.here, p)
	x.a = dial(t, "a", p, ctl.Options{})
	return x
}

func serve(t *testing.T, a *Agent, l net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- ctl.Serve(ctx, l, ctl.Handler(a)) }()
	t.Cleanup(func() {
		a.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func dial(t *testing.T, host string, way ctl.Transport, o ctl.Options) *ctl.Client {
	t.Helper()
	c, err := ctl.Dial(t.Context(), host, way, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func open(t *testing.T, c *ctl.Client) *ctl.Session {
	t.Helper()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// settings leave it to the agent which of its addresses it uses.
func (x *bench) settings(t *testing.T, test, role string, window time.Duration) traffic.Config {
	t.Helper()
	complete, err := spec.NewTest(test, spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	c := traffic.Config{Role: role, Test: complete, Window: window, CPU: sys.NoCPU, Addr: netip.IPv4Unspecified(), Peer: x.link.AddrB()}
	if role == result.Remote {
		c.Peer = x.link.AddrA()
	}
	return c
}

// setUp takes host b's interface down or up.
func (x *bench) setUp(t *testing.T, up bool) {
	t.Helper()
	err := x.lab.B.NS.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		ifr, err := unix.NewIfreq(x.lab.B.Device)
		if err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
			return err
		}
		flags := ifr.Uint16() &^ unix.IFF_UP
		if up {
			flags |= unix.IFF_UP
		}
		ifr.SetUint16(flags)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
	})
	if err != nil {
		t.Fatal(err)
	}
}
