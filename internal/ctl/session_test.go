package ctl

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// transports are the ways to reach an agent; each test of a conversation runs
// over all of them.
var transports = []struct {
	name string
	make func(*testing.T) (net.Listener, Transport)
}{
	{"pipe", func(*testing.T) (net.Listener, Transport) { p := NewPipe(); return p, p }},
	{"unix", func(t *testing.T) (net.Listener, Transport) {
		u := Unix(filepath.Join(t.TempDir(), "agent.sock"))
		l, err := u.Listen()
		if err != nil {
			t.Fatal(err)
		}
		return l, u
	}},
	{"tcp", func(t *testing.T) (net.Listener, Transport) {
		l, way, _ := listen(t, TCP{Secret: mustSecret(t, secretA)})
		return l, way
	}},
	{"insecure tcp", func(t *testing.T) (net.Listener, Transport) {
		l, way, _ := listen(t, TCP{Insecure: true})
		return l, way
	}},
}

func TestConversation(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			f := newFakeHost()
			var cfg traffic.Config
			var peer netip.AddrPort
			var steps []string
			f.prepare = func(_ context.Context, c traffic.Config) (uint16, error) {
				steps, cfg = append(steps, "prepare"), c
				return 7118, nil
			}
			f.arm = func(_ context.Context, p netip.AddrPort) error {
				steps, peer = append(steps, "arm"), p
				return nil
			}
			f.run = func(context.Context) (*result.End, error) { steps = append(steps, "run"); return testEnd(), nil }
			f.drain = func(context.Context) (*result.End, error) {
				steps = append(steps, "drain")
				return &result.End{Role: result.Remote, Bytes: 5}, nil
			}
			f.abort = func(context.Context) error { steps = append(steps, "abort"); return nil }

			l, way := tr.make(t)
			defer serve(t, l, f)()
			c, err := Dial(t.Context(), "b", way, Options{Version: "v9", Client: "tester"})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if want := (Hello{"v1.2.3", Protocol, "fake"}); c.Hello() != want || c.Host() != "b" {
				t.Errorf("got %+v of %s, want %+v of b", c.Hello(), c.Host(), want)
			}
			s, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if who := <-f.opened; who.Client != "tester" || who.Version != "v9" || who.From == "" || who.Exclusive || who.Wait != 0 {
				t.Errorf("the agent was told that %+v asks", who)
			}
			port, err := s.Prepare(t.Context(), testConfig())
			if err != nil || port != 7118 || !reflect.DeepEqual(cfg, testConfig()) {
				t.Errorf("prepare: got port %d, error %v, and the host %+v", port, err, cfg)
			}
			if want := netip.MustParseAddrPort("192.0.2.1:7118"); s.Bound() != want {
				t.Errorf("bound at %v, want %v", s.Bound(), want)
			}
			far := netip.MustParseAddrPort("192.0.2.2:9")
			if err := s.Arm(t.Context(), far); err != nil || peer != far {
				t.Errorf("arm: got error %v, and the host %v", err, peer)
			}
			end, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(testEnd(), end); d != "" {
				t.Errorf("run (-want +got)\n%s", d)
			}
			if end, err = s.Drain(t.Context()); err != nil || end.Bytes != 5 {
				t.Errorf("drain: got %+v, error %v", end, err)
			}
			if err := s.Abort(t.Context()); err != nil {
				t.Error(err)
			}
			if d := cmp.Diff([]string{"prepare", "arm", "run", "drain", "abort"}, steps); d != "" {
				t.Errorf("steps (-want +got)\n%s", d)
			}
			f.run = nil
			if end, err := s.Run(t.Context()); end != nil || err != nil {
				t.Errorf("run at a remote end: got %+v, error %v, want nothing", end, err)
			}
			s.Close()
			if why := <-f.ended; !errors.Is(why, context.Canceled) {
				t.Errorf("the agent saw the session end with %v", why)
			}
			if err := s.Abort(t.Context()); !errors.Is(err, errClosed) {
				t.Errorf("a step of a closed session: got %v, want %v", err, errClosed)
			}
		})
	}
}

// severed is a transport whose connections can all be cut, as they are when a
// process dies.
type severed struct {
	Transport
	mu    sync.Mutex
	conns []net.Conn
}

func (s *severed) Dial(ctx context.Context) (net.Conn, error) {
	c, err := s.Transport.Dial(ctx)
	if err == nil {
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
	}
	return c, err
}

func (s *severed) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

// A client that dies in the middle of a step ends the step and the session.
func TestClientDies(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			f := newFakeHost()
			began, ended := make(chan bool), make(chan error, 1)
			f.run = func(ctx context.Context) (*result.End, error) {
				close(began)
				<-ctx.Done()
				ended <- ctx.Err()
				return nil, ctx.Err()
			}
			l, way := tr.make(t)
			defer serve(t, l, f)()
			cut := &severed{Transport: way}
			c, err := Dial(t.Context(), "b", cut, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			go func() { _, err := s.Run(t.Context()); failed <- err }()
			<-began
			cut.cut()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the step ended with %v", err)
			}
			if err := <-f.ended; err == nil {
				t.Error("the session ended without a reason")
			}
			if err := <-failed; !errors.Is(err, ErrUnreachable) && !errors.Is(err, ErrLost) {
				t.Errorf("the client's side: got %v", err)
			}
			<-s.Done()
		})
	}
}

func TestCancelledStep(t *testing.T) {
	f := newFakeHost()
	began, ended := make(chan bool), make(chan error, 1)
	f.run = func(ctx context.Context) (*result.End, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	s, end := hold(t, f, Options{})
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	<-ended
	if err := s.Abort(t.Context()); err != nil {
		t.Errorf("the session should live on: %v", err)
	}
}

// When the agent ends the session, the step under way fails at once.
func TestAgentEndsSession(t *testing.T) {
	f := newFakeHost()
	beats, began := make(chan Event), make(chan bool)
	f.beats = beats
	f.run = func(ctx context.Context) (*result.End, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s, end := hold(t, f, Options{})
	defer end()
	beats <- Event{Heartbeat: true}
	go func() { <-began; close(beats) }()
	_, err := s.Run(t.Context())
	if !errors.Is(err, ErrLost) {
		t.Errorf("got %v, want %v", err, ErrLost)
	}
	if err == nil || !strings.Contains(err.Error(), ErrClosing.Error()) {
		t.Errorf("error %q does not tell that %q", err, ErrClosing)
	}
	<-s.Done()
}

// Serve ends the calls under way when it is told to end.
func TestServeEnds(t *testing.T) {
	f := newFakeHost()
	began, ended := make(chan bool), false
	f.run = func(ctx context.Context) (*result.End, error) {
		close(began)
		<-ctx.Done()
		ended = true
		return nil, ctx.Err()
	}
	p := NewPipe()
	stop := serve(t, p, f)
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { _, err := s.Run(t.Context()); failed <- err }()
	<-began
	stop()
	if !ended {
		t.Error("Serve returned before its call had")
	}
	if err := <-failed; err == nil {
		t.Error("the call did not fail")
	}
	<-s.Done()
}
