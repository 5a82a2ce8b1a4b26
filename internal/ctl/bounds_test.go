package ctl

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
	"netdelta/proto/controlv1/controlv1connect"
)

// A client that stops without dying does not hold its session for ever: what
// is sent to it stays unread.
func TestClientStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeHost()
		p := NewPipe()
		defer serve(t, p, f)()
		conn, err := p.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// A request as Connect's protocol has it: an envelope of flags and
		// length before the message; field 2 (protocol) is 2.
		const body = "\x00\x00\x00\x00\x02\x10\x02"
		req, err := http.NewRequest("POST", "http://agent"+controlv1connect.HostOpenProcedure, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/connect+proto")
		req.Header.Set("Connect-Protocol-Version", "1")
		if err := req.Write(conn); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := conn.Read(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		if err := <-f.ended; err == nil {
			t.Error("the session ended without a reason")
		}
		if d := time.Since(began); d != writeBound {
			t.Errorf("the session ended after %v, want %v", d, writeBound)
		}
	})
}

// A host that does not answer fails the step at its bound; one that answers
// just before does not. The local run's bound has the trial's length on top.
func TestBounds(t *testing.T) {
	const bound = 3 * time.Second
	length := testConfig().Warmup + testConfig().Window
	for _, c := range []struct {
		step  string
		bound time.Duration
		call  func(context.Context, *Session) error
	}{
		{"prepare", bound, func(ctx context.Context, s *Session) error { _, err := s.Prepare(ctx, testConfig()); return err }},
		{"arm", bound, func(ctx context.Context, s *Session) error {
			return s.Arm(ctx, netip.MustParseAddrPort("192.0.2.2:9"))
		}},
		{"run", bound + length, func(ctx context.Context, s *Session) error { _, err := s.Run(ctx); return err }},
		{"drain", bound, func(ctx context.Context, s *Session) error { _, err := s.Drain(ctx); return err }},
		{"abort", bound, func(ctx context.Context, s *Session) error { return s.Abort(ctx) }},
	} {
		t.Run(c.step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeHost()
				var takes time.Duration
				wait := func(ctx context.Context) error {
					select {
					case <-time.After(takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				f.prepare = func(ctx context.Context, _ traffic.Config) (uint16, error) { return 1, wait(ctx) }
				f.arm = func(ctx context.Context, _ netip.AddrPort) error { return wait(ctx) }
				f.run = func(ctx context.Context) (*result.End, error) { return testEnd(), wait(ctx) }
				f.drain = f.run
				f.abort = wait
				s, end := hold(t, f, Options{Bound: bound})
				defer end()
				if _, err := s.Prepare(t.Context(), testConfig()); err != nil {
					t.Fatal(err)
				}
				takes = c.bound - time.Millisecond
				if err := c.call(t.Context(), s); err != nil {
					t.Errorf("answered in time: %v", err)
				}
				takes = time.Hour
				began := time.Now()
				err := c.call(t.Context(), s)
				if !errors.Is(err, ErrNoAnswer) {
					t.Errorf("got %v, want %v", err, ErrNoAnswer)
				}
				if want := "host b: " + c.step + ": no answer within " + c.bound.String(); err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("got %q, want %q", err, want)
				}
				if d := time.Since(began); d != c.bound {
					t.Errorf("gave up after %v, want %v", d, c.bound)
				}
			})
		})
	}
}

// A host that takes the connection and says nothing.
func TestSilentHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := p.Accept()
				if err != nil {
					return
				}
				go io.Copy(io.Discard, c)
			}
		}()
		_, err := Dial(t.Context(), "b", p, Options{Bound: time.Second})
		if !errors.Is(err, ErrNoAnswer) {
			t.Errorf("got %v, want %v", err, ErrNoAnswer)
		}
		p.Close()
		<-done
	})
}

// mute answers Hello and holds Open's stream without a word.
type mute struct {
	*fakeHost
}

func (mute) Open(ctx context.Context, _ Hold, _ func(Event) error) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestOpenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPipe()
		defer serve(t, p, mute{newFakeHost()})()
		c, err := Dial(t.Context(), "b", p, Options{Bound: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Open(t.Context()); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("got %v, want %v", err, ErrNoAnswer)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Open(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v, want %v", err, context.Canceled)
		}
	})
}
