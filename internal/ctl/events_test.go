package ctl

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

func TestEnvironment(t *testing.T) {
	f := newFakeHost()
	f.facts = []result.Fact{{Name: "kernel", Value: "6.18"}, {Name: "cpu", Value: "\"quoted\" ß"}}
	p := NewPipe()
	defer serve(t, p, f)()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Environment(t.Context())
	if err != nil || !cmp.Equal(got, f.facts) {
		t.Errorf("got %v, error %v, want %v", got, err, f.facts)
	}
	f.facts = []result.Fact{{Name: "huge", Value: strings.Repeat("x", maxFacts)}}
	if _, err := c.Environment(t.Context()); err == nil || !strings.Contains(err.Error(), "host b: environment: ") {
		t.Errorf("got error %v", err)
	}
}

// crowded is a host at which a client waits for its turn.
type crowded struct {
	*fakeHost
	events []Event // before the session's
	every  time.Duration
}

func (c crowded) Open(ctx context.Context, h Hold, send func(Event) error) error {
	c.opened <- h
	for _, e := range c.events {
		if err := send(e); err != nil {
			return err
		}
		select {
		case <-time.After(c.every):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.fakeHost.Open(ctx, h, send)
}

// While a client waits it is told for what, for as long as it said that it
// would.
func TestWaiting(t *testing.T) {
	since := time.UnixMilli(1700000000123)
	first := Busy{Reason: "alice has it", Holder: "alice", Since: since}
	second := Busy{Reason: "bob has it", Holder: "bob", Since: since.Add(time.Hour)}
	for _, c := range []struct {
		name string
		wait time.Duration
		err  error
	}{{"long enough", 4 * time.Minute, nil}, {"too short", 2 * time.Minute, ErrNoAnswer}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := crowded{newFakeHost(), []Event{{Busy: &first}, {Heartbeat: true}, {Busy: &second}}, time.Minute}
				p := NewPipe()
				defer serve(t, p, f)()
				var told []Busy
				client, err := Dial(t.Context(), "b", p, Options{
					Client: "me", Exclusive: true, Wait: c.wait,
					Waiting: func(b Busy) { told = append(told, b) },
				})
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				began := time.Now()
				s, err := client.Open(t.Context())
				if h := <-f.opened; !h.Exclusive || h.Wait != c.wait || h.Client != "me" {
					t.Errorf("the host was asked for %+v", h)
				}
				if c.err != nil {
					if d := time.Since(began); !errors.Is(err, c.err) || d != c.wait+StepBound {
						t.Errorf("got %v after %v, want %v after %v", err, d, c.err, c.wait+StepBound)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if d := cmp.Diff([]Busy{first, second}, told); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
				if _, err := s.Prepare(t.Context(), testConfig()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Who does not wait is told who has the host.
func TestRefusedAsBusy(t *testing.T) {
	f := newFakeHost()
	p := NewPipe()
	defer serve(t, p, refusing{f})()
	c, err := Dial(t.Context(), "b", p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Open(t.Context())
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "host b: open: host is in use: alice has it") {
		t.Errorf("got %v, want %v with the reason", err, ErrBusy)
	}
}

type refusing struct{ *fakeHost }

func (refusing) Open(context.Context, Hold, func(Event) error) error {
	return fmt.Errorf("%w: alice has it", ErrBusy)
}

func TestIntervalsArrive(t *testing.T) {
	f := newFakeHost()
	events := make(chan Event)
	f.beats = events
	p := NewPipe()
	defer serve(t, p, f)()
	got := make(chan string, 4)
	c, err := Dial(t.Context(), "b", p, Options{Interval: func(data []byte) { got <- string(data) }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, data := range []string{`{"n":1}`, `{"n":2}`} {
		events <- Event{Heartbeat: true}
		events <- Event{Interval: []byte(data)}
		if g := <-got; g != data {
			t.Errorf("got %s, want %s", g, data)
		}
	}
}

// An agent that shuts down says so to who holds a session there.
func TestClosingIsTold(t *testing.T) {
	f := newFakeHost()
	beats, began := make(chan Event), make(chan bool)
	f.beats = beats
	f.prepare = func(ctx context.Context, _ traffic.Config) (uint16, error) {
		close(began)
		<-ctx.Done()
		return 0, ctx.Err()
	}
	s, end := hold(t, f, Options{})
	defer end()
	go func() { <-began; close(beats) }()
	_, err := s.Prepare(t.Context(), testConfig())
	if !errors.Is(err, ErrLost) || !errors.Is(err, ErrClosing) {
		t.Errorf("got %v, want %v and %v", err, ErrLost, ErrClosing)
	}
	if want := "host b: prepare: session lost: agent is closing"; err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// An agent that answers nonsense about its worker's address is not believed.
func TestBadBound(t *testing.T) {
	f := nowhere{newFakeHost()}
	s, end := hold(t, f, Options{})
	defer end()
	if _, err := s.Prepare(t.Context(), testConfig()); err == nil || !strings.Contains(err.Error(), "worker has address") {
		t.Errorf("got %v", err)
	}
	if s.Bound().IsValid() {
		t.Errorf("bound at %v", s.Bound())
	}
}

type nowhere struct{ *fakeHost }

func (nowhere) Prepare(context.Context, string, traffic.Config) (netip.AddrPort, error) {
	return netip.AddrPort{}, nil
}

func TestMilliseconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want uint32
	}{{-1, 0}, {0, 0}, {1, 1}, {time.Millisecond, 1}, {time.Millisecond + 1, 2}, {time.Minute, 60000}, {1 << 62, 1<<32 - 1}} {
		if got := milliseconds(c.d); got != c.want {
			t.Errorf("%v: got %d, want %d", c.d, got, c.want)
		}
	}
}
