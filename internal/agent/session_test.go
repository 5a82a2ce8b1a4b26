package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/worker"
)

func TestTrials(t *testing.T) {
	for _, c := range []struct {
		role   string
		steps  []string
		states []state // after each
		calls  []string
	}{
		{result.Local, []string{"prepare", "arm", "run"}, []state{prepared, armed, idle},
			[]string{"start", "prepare", "arm", "run", "close"}},
		{result.Remote, []string{"prepare", "arm", "run", "drain"}, []state{prepared, armed, running, idle},
			[]string{"start", "prepare", "arm", "run", "drain", "close"}},
	} {
		t.Run(c.role, func(t *testing.T) {
			h := hold(t, newStable(), Config{})
			defer h.finish(t)
			for round := range 2 { // a session serves one trial after the other
				for i, step := range c.steps {
					if err := h.call(t.Context(), step, c.role); err != nil {
						t.Fatalf("round %d, %s: %v", round, step, err)
					}
					if got := h.state(); got != c.states[i] {
						t.Errorf("round %d, after %s: %v, want %v", round, step, got, c.states[i])
					}
				}
			}
			if want := append(c.calls, c.calls...); !slices.Equal(h.st.calls, want) {
				t.Errorf("the workers were told %v, want %v", h.st.calls, want)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	h := hold(t, newStable(), Config{})
	defer h.finish(t)
	at, err := h.Prepare(t.Context(), h.id, config(result.Local))
	if want := netip.MustParseAddrPort("192.0.2.1:7118"); err != nil || at != want {
		t.Errorf("prepare: got %v, error %v, want %v", at, err, want)
	}
	if err := h.Arm(t.Context(), h.id, peer); err != nil {
		t.Fatal(err)
	}
	if end, err := h.Run(t.Context(), h.id); err != nil || end == nil || end.Messages != 3 {
		t.Errorf("local run: got %+v, error %v", end, err)
	}
	for _, step := range []string{"prepare", "arm"} {
		if err := h.call(t.Context(), step, result.Remote); err != nil {
			t.Fatal(err)
		}
	}
	if end, err := h.Run(t.Context(), h.id); err != nil || end != nil {
		t.Errorf("remote run: got %+v, error %v, want nothing", end, err)
	}
	if end, err := h.Drain(t.Context(), h.id); err != nil || end == nil || end.Messages != 2 {
		t.Errorf("drain: got %+v, error %v", end, err)
	}
}

// to lists the steps that bring a new remote end into a state.
var to = map[state][]string{
	idle:     nil,
	prepared: {"prepare"},
	armed:    {"prepare", "arm"},
	running:  {"prepare", "arm", "run"},
}

func (h *held) bring(t *testing.T, s state) {
	t.Helper()
	for _, step := range to[s] {
		if err := h.call(t.Context(), step, result.Remote); err != nil {
			t.Fatal(err)
		}
	}
}

// Every step in every state: one is right, the others are refused and change
// nothing, so that the right one can still follow.
func TestOutOfOrder(t *testing.T) {
	right := map[state]string{idle: "prepare", prepared: "arm", armed: "run", running: "drain"}
	for s := range to {
		t.Run(s.String(), func(t *testing.T) {
			h := hold(t, newStable(), Config{})
			defer h.finish(t)
			h.bring(t, s)
			for _, step := range []string{"prepare", "arm", "run", "drain"} {
				if step == right[s] {
					continue
				}
				if err := h.call(t.Context(), step, result.Remote); !errors.Is(err, ctl.ErrState) {
					t.Errorf("%s: got %v, want %v", step, err, ctl.ErrState)
				}
				if got := h.state(); got != s {
					t.Errorf("%s led to %v", step, got)
				}
			}
			if err := h.call(t.Context(), right[s], result.Remote); err != nil {
				t.Error(err)
			}
		})
	}
}

// While a step is under way no other begins, save Abort.
func TestOneStepAtATime(t *testing.T) {
	st := newStable()
	st.hang = "arm"
	h := hold(t, st, Config{})
	defer h.finish(t)
	h.bring(t, prepared)
	failed := make(chan error, 1)
	go func() { failed <- h.call(t.Context(), "arm", result.Remote) }()
	<-st.hung
	for _, step := range []string{"prepare", "arm", "run", "drain"} {
		err := h.call(t.Context(), step, result.Remote)
		if !errors.Is(err, ctl.ErrState) || !strings.Contains(err.Error(), "while arm is under way") {
			t.Errorf("%s: got %v, want %v", step, err, ctl.ErrState)
		}
	}
	if err := h.Abort(t.Context(), h.id); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, ctl.ErrAborted) {
		t.Errorf("the aborted step: got %v, want %v", err, ctl.ErrAborted)
	}
}

// stops are the ways in which a trial is ended from outside.
var stops = []struct {
	name string
	stop func(*testing.T, *held)
}{
	{"abort", func(t *testing.T, h *held) {
		if err := h.Abort(t.Context(), h.id); err != nil {
			t.Error(err)
		}
		if got := h.state(); got != idle {
			t.Errorf("after abort: %v", got)
		}
		if err := h.call(t.Context(), "prepare", result.Remote); err != nil && h.st.hang != "prepare" {
			t.Errorf("the session should be usable again: %v", err)
		}
	}},
	{"client goes", func(t *testing.T, h *held) {
		h.leave()
		if err := <-h.gone; !errors.Is(err, context.Canceled) {
			t.Errorf("open returned %v", err)
		}
		if n := h.st.living(); n != 0 {
			t.Errorf("%d workers outlive their session", n)
		}
		if err := h.Abort(t.Context(), h.id); !errors.Is(err, ctl.ErrNoSession) {
			t.Errorf("the session is still known: %v", err)
		}
	}},
	{"agent closes", func(t *testing.T, h *held) {
		h.Close()
		if err := <-h.gone; !errors.Is(err, ctl.ErrClosing) {
			t.Errorf("open returned %v", err)
		}
		if n := h.st.living(); n != 0 {
			t.Errorf("%d workers outlive their agent", n)
		}
	}},
}

// A trial can be ended between its steps, in every state.
func TestStopBetweenSteps(t *testing.T) {
	for _, c := range stops {
		for s := range to {
			t.Run(c.name+"/"+s.String(), func(t *testing.T) {
				h := hold(t, newStable(), Config{})
				defer h.finish(t)
				h.bring(t, s)
				c.stop(t, h)
			})
		}
	}
}

// And in the middle of every step.
func TestStopWithinStep(t *testing.T) {
	before := map[string]state{"prepare": idle, "arm": prepared, "run": armed, "drain": running}
	for _, c := range stops {
		for step, s := range before {
			t.Run(c.name+"/"+step, func(t *testing.T) {
				st := newStable()
				h := hold(t, st, Config{})
				defer h.finish(t)
				h.bring(t, s)
				st.mu.Lock()
				st.hang = step
				st.mu.Unlock()
				failed := make(chan error, 1)
				go func() { failed <- h.call(context.Background(), step, result.Remote) }()
				<-st.hung
				if c.name == "abort" && step == "prepare" {
					st.mu.Lock()
					st.hang = ""
					st.mu.Unlock()
				}
				c.stop(t, h)
				if err := <-failed; !errors.Is(err, ctl.ErrAborted) {
					t.Errorf("the step: got %v, want %v", err, ctl.ErrAborted)
				}
			})
		}
	}
}

// A step that goes wrong ends the trial and its worker, says why, and leaves
// the session fit for the next trial.
func TestStepFails(t *testing.T) {
	broke := errors.New("bind: address already in use")
	dead := fmt.Errorf("worker: %w: signal: killed", worker.ErrDied)
	for _, step := range []string{"start", "prepare", "arm", "run", "drain"} {
		for _, c := range []struct {
			name       string
			give, want error
		}{{"error", broke, broke}, {"death", dead, ctl.ErrWorkerDied}} {
			t.Run(step+"/"+c.name, func(t *testing.T) {
				st := newStable()
				h := hold(t, st, Config{})
				defer h.finish(t)
				st.fail[step] = c.give
				var err error
				for _, s := range []string{"prepare", "arm", "run", "drain"} {
					if err = h.call(t.Context(), s, result.Remote); err != nil {
						break
					}
				}
				if !errors.Is(err, c.want) || !errors.Is(err, c.give) {
					t.Errorf("got %v, want %v and %v", err, c.want, c.give)
				}
				if got := h.state(); got != idle || st.living() != 0 {
					t.Errorf("%v with %d workers, want idle with none", got, st.living())
				}
				err = h.call(t.Context(), "arm", result.Remote)
				if !errors.Is(err, ctl.ErrState) || !strings.Contains(err.Error(), c.give.Error()) {
					t.Errorf("the next step: got %v, want %v with the reason", err, ctl.ErrState)
				}
				delete(st.fail, step)
				for _, s := range []string{"prepare", "arm", "run", "drain"} {
					if err := h.call(t.Context(), s, result.Remote); err != nil {
						t.Errorf("the next trial: %v", err)
					}
				}
			})
		}
	}
}

func TestStepCancelled(t *testing.T) {
	st := newStable()
	st.hang = "run"
	h := hold(t, st, Config{})
	defer h.finish(t)
	h.bring(t, armed)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-st.hung; cancel() }()
	if err := h.call(ctx, "run", result.Local); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if got := h.state(); got != idle || st.living() != 0 {
		t.Errorf("%v with %d workers, want idle with none", got, st.living())
	}
}

// A trial whose client never comes back is ended when its time is up, at
// either end; the deadline of one trial does not hit the next.
func TestOverdue(t *testing.T) {
	limit := config(result.Remote).Warmup + config(result.Remote).Window + 10*time.Second
	t.Run("remote", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := hold(t, newStable(), Config{Grace: 10 * time.Second})
			defer h.finish(t)
			h.bring(t, running)
			time.Sleep(limit - time.Nanosecond)
			synctest.Wait()
			if got := h.state(); got != running {
				t.Fatalf("%v before the time was up", got)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if got := h.state(); got != idle || h.st.living() != 0 {
				t.Errorf("%v with %d workers when the time is up", got, h.st.living())
			}
			err := h.call(t.Context(), "drain", result.Remote)
			if !errors.Is(err, ctl.ErrState) || !strings.Contains(err.Error(), "not over within 15s") {
				t.Errorf("drain: got %v, want %v with the reason", err, ctl.ErrState)
			}
		})
	})
	t.Run("local", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st := newStable()
			st.hang = "run"
			h := hold(t, st, Config{Grace: 10 * time.Second})
			defer h.finish(t)
			h.bring(t, armed)
			began := time.Now()
			if err := h.call(t.Context(), "run", result.Local); !errors.Is(err, ctl.ErrAborted) {
				t.Errorf("got %v, want %v", err, ctl.ErrAborted)
			}
			if d := time.Since(began); d != limit {
				t.Errorf("ended after %v, want %v", d, limit)
			}
		})
	})
	t.Run("next", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := hold(t, newStable(), Config{Grace: 10 * time.Second})
			defer h.finish(t)
			h.bring(t, running)
			time.Sleep(limit / 2)
			if err := h.call(t.Context(), "drain", result.Remote); err != nil {
				t.Fatal(err)
			}
			h.bring(t, running)
			time.Sleep(limit * 3 / 4)
			synctest.Wait()
			if got := h.state(); got != running {
				t.Errorf("%v: the first trial's deadline has hit the second", got)
			}
		})
	})
}
