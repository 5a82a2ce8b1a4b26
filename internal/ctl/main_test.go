package ctl

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// fakeHost answers as its functions say; without one, with nothing at once.
// Its sessions are named s1 and live until their context ends.
type fakeHost struct {
	opened  chan Hold  // gets what each session was asked for
	ended   chan error // gets the reason for which each ended
	beats   <-chan Event
	facts   []result.Fact
	checkup func(context.Context, Look) (*result.Counters, error)
	prepare func(context.Context, traffic.Config) (uint16, error)
	arm     func(context.Context, netip.AddrPort) error
	run     func(context.Context) (*result.End, error)
	drain   func(context.Context) (*result.End, error)
	set     func(context.Context, Settings) ([]result.Change, error)
	unset   func(context.Context) error
	abort   func(context.Context) error
}

func newFakeHost() *fakeHost {
	return &fakeHost{opened: make(chan Hold, 8), ended: make(chan error, 8)}
}

func (f *fakeHost) Hello() Hello {
	return Hello{Version: "v1.2.3", Protocol: Protocol, Hostname: "fake"}
}

func (f *fakeHost) Environment(context.Context) ([]result.Fact, error) { return f.facts, nil }

func (f *fakeHost) Checkup(ctx context.Context, l Look) (*result.Counters, error) {
	if f.checkup == nil {
		return &result.Counters{}, nil
	}
	return f.checkup(ctx, l)
}

func (f *fakeHost) Open(ctx context.Context, h Hold, send func(Event) error) (err error) {
	defer func() { f.ended <- err }()
	f.opened <- h
	if err := send(Event{Session: "s1"}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-f.beats:
			if !ok {
				return ErrClosing
			}
			if err := send(e); err != nil {
				return err
			}
		}
	}
}

func (f *fakeHost) Prepare(ctx context.Context, session string, cfg traffic.Config) (netip.AddrPort, error) {
	if session != "s1" {
		return netip.AddrPort{}, ErrNoSession
	}
	var port uint16
	var err error
	if f.prepare != nil {
		port, err = f.prepare(ctx, cfg)
	}
	return netip.AddrPortFrom(cfg.Addr, port), err
}

func (f *fakeHost) Arm(ctx context.Context, _ string, peer netip.AddrPort) error {
	if f.arm == nil {
		return nil
	}
	return f.arm(ctx, peer)
}

func (f *fakeHost) Run(ctx context.Context, _ string) (*result.End, error) {
	if f.run == nil {
		return nil, nil
	}
	return f.run(ctx)
}

func (f *fakeHost) Drain(ctx context.Context, _ string) (*result.End, error) {
	if f.drain == nil {
		return &result.End{Role: result.Remote}, nil
	}
	return f.drain(ctx)
}

func (f *fakeHost) Set(ctx context.Context, _ string, w Settings) ([]result.Change, error) {
	if f.set == nil {
		return nil, nil
	}
	return f.set(ctx, w)
}

func (f *fakeHost) Unset(ctx context.Context, _ string) error {
	if f.unset == nil {
		return nil
	}
	return f.unset(ctx)
}

func (f *fakeHost) Abort(ctx context.Context, _ string) error {
	if f.abort == nil {
		return nil
	}
	return f.abort(ctx)
}

// serve serves the host on the listener until the returned function is
// called, which waits for the end.
func serve(t *testing.T, l net.Listener, h Host) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, Handler(h)) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
}

// hold serves the host on a pipe and returns an open session there, and
// what ends both.
func hold(t *testing.T, h Host, o Options) (*Session, func()) {
	t.Helper()
	p := NewPipe()
	stop := serve(t, p, h)
	c, err := Dial(t.Context(), "b", p, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		s.Close()
		c.Close()
		stop()
	}
}

func testConfig() traffic.Config {
	test, err := spec.NewTest("udp_rr", spec.Params{Size: 1})
	if err != nil {
		panic(err)
	}
	return traffic.Config{
		Role:   result.Local,
		Test:   test,
		Warmup: 50 * time.Millisecond,
		Window: 200 * time.Millisecond,
		CPU:    1,
		Addr:   netip.MustParseAddr("192.0.2.1"),
	}
}
