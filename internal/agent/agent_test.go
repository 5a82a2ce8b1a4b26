package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
)

// Signs of life come while nothing is measured, and only then.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hold(t, newStable(), Config{Heartbeat: time.Second})
		defer h.finish(t)
		// The clock stands half-way between two beats.
		time.Sleep(500 * time.Millisecond)
		count := func() int {
			n := 0
			for {
				select {
				case <-h.beats:
					n++
				default:
					return n
				}
			}
		}
		pass := func(what string, want int) {
			t.Helper()
			count()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if n := count(); n != want {
				t.Errorf("%s: %d heartbeats in 3 s, want %d", what, n, want)
			}
		}
		pass("idle", 3)
		for _, s := range []struct {
			step string
			want int
		}{{"prepare", 3}, {"arm", 3}, {"run", 0}, {"drain", 3}} {
			if err := h.call(t.Context(), s.step, result.Remote); err != nil {
				t.Fatal(err)
			}
			pass("after "+s.step, s.want)
		}
	})
}

// A client that takes no step for long loses its session, with the worker that
// it may have; one that takes some keeps it.
func TestIdleSessionEnds(t *testing.T) {
	for _, s := range []state{idle, prepared, armed} {
		t.Run(s.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = time.Minute
				h := hold(t, newStable(), Config{Heartbeat: 2 * time.Second, Idle: limit})
				defer h.finish(t)
				time.Sleep(limit * 3 / 4)
				h.bring(t, prepared)
				if err := h.Abort(t.Context(), h.id); err != nil {
					t.Fatal(err)
				}
				h.bring(t, s)
				time.Sleep(limit * 3 / 4)
				if err := h.Abort(t.Context(), h.id); err != nil {
					t.Fatalf("it took a step in time: %v", err)
				}
				h.bring(t, s)
				began := time.Now()
				if err := <-h.gone; !errors.Is(err, ctl.ErrIdle) {
					t.Errorf("got %v, want %v", err, ctl.ErrIdle)
				}
				if d := time.Since(began); d < limit || d > limit+3*time.Second {
					t.Errorf("it ended after %v, want %v", d, limit)
				}
				if n := h.st.living(); n != 0 {
					t.Errorf("%d workers are left", n)
				}
			})
		})
	}
}

// A step or a trial that lasts is not idleness.
func TestLongTrialIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStable()
		h := hold(t, st, Config{Heartbeat: time.Second, Idle: time.Second, Grace: time.Hour})
		defer h.finish(t)
		h.bring(t, running)
		time.Sleep(time.Minute)
		st.mu.Lock()
		st.hang = "drain"
		st.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := h.call(ctx, "drain", result.Remote); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

// A client whose stream cannot be written to is gone.
func TestHeartbeatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStable()
		a := New(Config{Start: st.start, Heartbeat: time.Second})
		broken := errors.New("broken pipe")
		err := a.Open(t.Context(), ctl.Hold{Client: "tester"}, func(e ctl.Event) error {
			if e.Heartbeat {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		if len(a.sessions) != 0 {
			t.Error("the session is still held")
		}
		a.Close()
	})
}

func TestSessionLimit(t *testing.T) {
	st := newStable()
	h := hold(t, st, Config{MaxSessions: 2})
	defer h.finish(t)
	id, leave, gone, _ := join(t, h.Agent)
	if id == h.id || len(id) < 20 {
		t.Errorf("sessions %q and %q: want two that cannot be guessed", h.id, id)
	}
	err := h.Open(t.Context(), ctl.Hold{Client: "third"}, func(ctl.Event) error { return nil })
	if !errors.Is(err, ctl.ErrLimit) || !strings.Contains(err.Error(), `"tester"`) {
		t.Errorf("got %v, want %v and who holds them", err, ctl.ErrLimit)
	}
	leave()
	<-gone
	_, leave, gone, _ = join(t, h.Agent)
	leave()
	<-gone
}

// Two sessions are two trials that do not touch each other.
func TestSessionsAreApart(t *testing.T) {
	h := hold(t, newStable(), Config{})
	defer h.finish(t)
	id, leave, gone, _ := join(t, h.Agent)
	h.bring(t, running)
	if _, err := h.Prepare(t.Context(), id, config(result.Local)); err != nil {
		t.Error(err)
	}
	leave()
	<-gone
	if err := h.call(t.Context(), "drain", result.Remote); err != nil {
		t.Error(err)
	}
}

func TestUnknownSession(t *testing.T) {
	h := hold(t, newStable(), Config{})
	defer h.finish(t)
	known := h.id
	h.id = "guess"
	for _, step := range []string{"prepare", "arm", "run", "drain", "abort"} {
		if err := h.call(t.Context(), step, result.Remote); !errors.Is(err, ctl.ErrNoSession) {
			t.Errorf("%s: got %v, want %v", step, err, ctl.ErrNoSession)
		}
	}
	h.id = known
}

func TestClosedAgent(t *testing.T) {
	a := New(Config{Start: newStable().start})
	a.Close()
	a.Close()
	err := a.Open(t.Context(), ctl.Hold{Client: "late"}, func(ctl.Event) error { return nil })
	if !errors.Is(err, ctl.ErrClosing) {
		t.Errorf("got %v, want %v", err, ctl.ErrClosing)
	}
}

// Over a real connection: when it breaks in the middle of a window, the
// worker is ended and the place is free again.
func TestClientDies(t *testing.T) {
	st := newStable()
	st.hang = "run"
	a := New(Config{Name: "b", Version: "v1", Start: st.start, MaxSessions: 1})
	p := ctl.NewPipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- ctl.Serve(ctx, p, ctl.Handler(a)) }()
	defer func() {
		a.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()

	cut := &severed{Pipe: p}
	c, err := ctl.Dial(t.Context(), "b", cut, ctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Hello() != (ctl.Hello{Version: "v1", Protocol: ctl.Protocol, Hostname: "b"}) {
		t.Errorf("hello: got %+v", c.Hello())
	}
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(t.Context(), config(result.Local)); err != nil {
		t.Fatal(err)
	}
	if err := s.Arm(t.Context(), peer); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { _, err := s.Run(t.Context()); failed <- err }()
	<-st.hung
	cut.cut()
	if err := <-failed; err == nil {
		t.Error("the run went well without a connection")
	}
	<-s.Done()

	// The agent learns of it by itself.
	a.open.Wait()
	if n := st.living(); n != 0 {
		t.Errorf("%d workers outlive their client", n)
	}
	again, err := ctl.Dial(t.Context(), "b", p, ctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s, err = again.Open(t.Context())
	if err != nil {
		t.Fatalf("the place is not free: %v", err)
	}
	s.Close()
}

// severed is a transport whose connections can all be cut.
type severed struct {
	*ctl.Pipe
	mu    sync.Mutex
	conns []net.Conn
}

func (s *severed) Dial(ctx context.Context) (net.Conn, error) {
	c, err := s.Pipe.Dial(ctx)
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

// Whatever calls come in whatever order from several goroutines, a worker is
// used by one step at a time and none is left at the end.
func TestAnyOrder(t *testing.T) {
	st := newStable()
	h := hold(t, st, Config{})
	steps := []string{"prepare", "arm", "run", "drain", "prepare", "arm", "run", "abort"}
	var callers sync.WaitGroup
	for seed := range uint64(4) {
		callers.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for i := range 500 {
				if seed == 0 && i == 400 {
					h.leave() // in the middle of it all
				}
				role := [...]string{result.Local, result.Remote}[rng.IntN(2)]
				err := h.call(context.Background(), steps[rng.IntN(len(steps))], role)
				if err != nil && !errors.Is(err, ctl.ErrState) && !errors.Is(err, ctl.ErrNoSession) && !errors.Is(err, ctl.ErrAborted) {
					t.Errorf("unexpected: %v", err)
				}
			}
		})
	}
	callers.Wait()
	<-h.gone
	if st.made() < 2 {
		t.Errorf("only %d trials were tried", st.made())
	}
	h.finish(t)
}
