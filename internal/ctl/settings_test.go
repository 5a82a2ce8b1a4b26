package ctl

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

func testSettings() Settings {
	return Settings{
		End: spec.EndRemote,
		List: []spec.Setting{
			{End: spec.EndBoth, Knob: "gro", Value: "off"},
			{End: spec.EndRemote, Knob: "coalesce.rx-usecs", Device: "eth0", Value: "64"},
			{End: spec.EndRemote, Knob: "command", Command: &spec.Command{Apply: "modprobe <x> && y", Restore: "rmmod x", Check: "true"}},
		},
		Addr:  netip.MustParseAddr("192.0.2.2"),
		Peer:  netip.MustParseAddr("fe80::1%eth0"),
		Probe: true,
	}
}

func testChanges() []result.Change {
	return []result.Change{
		{End: spec.EndRemote, Knob: "gro", Device: "eth0", Value: "off", Was: "on", Took: time.Millisecond},
		{End: spec.EndRemote, Knob: "mtu", Device: "eth0", Value: "9000", Was: "1500", Took: 1, Settled: time.Second},
	}
}

// What is asked for arrives at the host, and what that has changed comes back.
func TestSetAndUnset(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			f := newFakeHost()
			var asked []Settings
			unset := 0
			f.set = func(_ context.Context, w Settings) ([]result.Change, error) {
				asked = append(asked, w)
				return testChanges(), nil
			}
			f.unset = func(context.Context) error { unset++; return nil }
			l, way := tr.make(t)
			defer serve(t, l, f)()
			c, err := Dial(t.Context(), "b", way, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			nothing := Settings{End: spec.EndLocal}
			for _, w := range []Settings{testSettings(), nothing} {
				got, err := s.Set(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(testChanges(), got); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
			}
			if !reflect.DeepEqual(asked, []Settings{testSettings(), nothing}) {
				t.Errorf("the host was asked for %+v", asked)
			}
			if err := s.Unset(t.Context()); err != nil || unset != 1 {
				t.Errorf("unset: %v, the host %d times", err, unset)
			}
		})
	}
}

// Errors of the host keep their kind; those of a request that no host could carry
// out don't reach it.
func TestSetFails(t *testing.T) {
	f := newFakeHost()
	s, end := hold(t, f, Options{})
	defer end()
	for _, kind := range []error{ErrBusy, ErrState, ErrInvalid, ErrAborted, feature.ErrUnavailable} {
		f.set = func(context.Context, Settings) ([]result.Change, error) { return nil, kind }
		f.unset = func(context.Context) error { return kind }
		if _, err := s.Set(t.Context(), testSettings()); !errors.Is(err, kind) || !strings.HasPrefix(err.Error(), "host b: set: ") {
			t.Errorf("got %v, want %v", err, kind)
		}
		if err := s.Unset(t.Context()); !errors.Is(err, kind) {
			t.Errorf("unset: got %v, want %v", err, kind)
		}
	}
	f.set = func(context.Context, Settings) ([]result.Change, error) {
		t.Error("the host was asked")
		return nil, nil
	}
	w := testSettings()
	w.List[0].Value = "perhaps"
	if _, err := s.Set(t.Context(), w); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "perhaps") {
		t.Errorf("got %v, want %v", err, ErrInvalid)
	}
	f.set = func(context.Context, Settings) ([]result.Change, error) { return []result.Change{{Knob: "gro"}}, nil }
	if _, err := s.Set(t.Context(), testSettings()); err == nil || !strings.Contains(err.Error(), `end ""`) {
		t.Errorf("changes of no end: got %v", err)
	}
}

// An agent of a release before works where nothing is to be set, and says what it
// lacks where something is.
func TestSetAtOlderAgent(t *testing.T) {
	for newest := uint32(MinProtocol); newest < protocolSettings; newest++ {
		e := elder{otherAgent{span: span{MinProtocol, newest}, asked: make(chan *controlv1.OpenRequest, 1)}, make(chan string, 1)}
		mux := http.NewServeMux()
		mux.Handle(controlv1connect.NewHostHandler(e))
		p := NewPipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, p, mux) }()
		c, err := Dial(t.Context(), "b", p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if changes, err := s.Set(t.Context(), Settings{End: spec.EndLocal}); changes != nil || err != nil {
			t.Errorf("protocol %d: nothing to set: %v, %v", newest, changes, err)
		}
		_, err = s.Set(t.Context(), testSettings())
		if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "netdelta v9") || !strings.Contains(err.Error(), "install the same version at both ends") {
			t.Errorf("protocol %d: got %v", newest, err)
		}
		if err := s.Unset(t.Context()); err != nil {
			t.Errorf("protocol %d: unset: %v", newest, err)
		}
		if _, err := s.Prepare(t.Context(), testConfig()); err != nil {
			t.Errorf("protocol %d: a trial: %v", newest, err)
		}
		<-e.settings
		s.Close()
		c.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A change has the time that it may need, for each setting and command, and what
// the last one made as well; a host that does not answer fails it then. One that
// has gone fails it at once.
func TestSetBounds(t *testing.T) {
	one := Settings{End: spec.EndLocal, List: []spec.Setting{{End: spec.EndLocal, Knob: "gro", Value: "on"}}}
	all := testSettings()
	const bound = 3 * time.Second
	for _, c := range []struct {
		name string
		call func(context.Context, *Session) error
		want time.Duration
	}{
		{"one", func(ctx context.Context, s *Session) error { _, err := s.Set(ctx, one); return err }, bound + ChangeBound},
		{"commands", func(ctx context.Context, s *Session) error { _, err := s.Set(ctx, all); return err }, bound + 3*ChangeBound + CommandBound},
		{"nothing to unset", func(ctx context.Context, s *Session) error { return s.Unset(ctx) }, bound},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeHost()
				var takes atomic.Int64
				wait := func(ctx context.Context) error {
					select {
					case <-time.After(time.Duration(takes.Load())):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				f.set = func(ctx context.Context, _ Settings) ([]result.Change, error) { return nil, wait(ctx) }
				f.unset = wait
				s, end := hold(t, f, Options{Bound: bound})
				defer end()
				takes.Store(int64(100 * time.Hour))
				began := time.Now()
				if err := c.call(t.Context(), s); !errors.Is(err, ErrNoAnswer) {
					t.Errorf("got %v, want %v", err, ErrNoAnswer)
				}
				if d := time.Since(began); d != c.want {
					t.Errorf("gave up after %v, want %v", d, c.want)
				}
				// The next one may have to restore what that made, or does nothing more.
				rest := c.want - bound
				takes.Store(int64(rest))
				if err := s.Unset(t.Context()); err != nil {
					t.Errorf("unset within %v: %v", rest, err)
				}
				if _, err := s.Set(t.Context(), Settings{End: spec.EndLocal}); err != nil {
					t.Errorf("set of nothing within %v: %v", rest, err)
				}
			})
		})
	}
	t.Run("lost", func(t *testing.T) {
		f := newFakeHost()
		beats, began := make(chan Event), make(chan bool)
		f.beats = beats
		f.set = func(ctx context.Context, _ Settings) ([]result.Change, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s, end := hold(t, f, Options{})
		defer end()
		go func() { <-began; close(beats) }()
		if _, err := s.Set(t.Context(), all); !errors.Is(err, ErrLost) {
			t.Errorf("got %v, want %v", err, ErrLost)
		}
	})
}

// Both sides have patience with a connection whose link a change may take down,
// and none more where it can't.
func TestPatienceWhileLinkIsDown(t *testing.T) {
	for knob, want := range map[string]time.Duration{"mtu": linkDown, "busy_poll": 0} {
		f := newFakeHost()
		s, end := hold(t, f, Options{})
		_, err := s.Set(t.Context(), Settings{End: spec.EndLocal, List: []spec.Setting{{End: spec.EndLocal, Knob: knob, Value: "1500"}}})
		if err != nil {
			t.Error(err)
		}
		s.c.pool.mu.Lock()
		if got := s.c.pool.length; got != want {
			t.Errorf("%s: the connections are to bear a silence of %v, want %v", knob, got, want)
		}
		s.c.pool.mu.Unlock()
		end()
	}
}
