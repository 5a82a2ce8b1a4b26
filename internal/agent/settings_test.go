package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/knob"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// keepers makes Keepers of a host that has the one setting mtu, 1500 at first.
type keepers struct {
	mu      sync.Mutex
	st      *stable // no worker of it lives while something is restored
	mtu     string
	who     string // whom the last Keeper was made for
	made    int
	restore int
	fail    error     // Set and Restore fail so
	hang    bool      // Set waits for its context's end
	hung    chan bool // gets a token when Set begins to hang
	bad     []string
}

func newKeepers() *keepers { return &keepers{mtu: "1500", hung: make(chan bool, 1)} }

func (k *keepers) keep(who string) Keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.who = who
	k.made++
	return k
}

func (k *keepers) Set(ctx context.Context, r knob.Request) ([]result.Change, error) {
	k.mu.Lock()
	fail, hang, was := k.fail, k.hang, k.mtu
	if fail == nil && len(r.Settings) > 0 {
		k.mtu = r.Settings[0].Value
	}
	k.mu.Unlock()
	if hang {
		k.hung <- true
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if fail != nil || len(r.Settings) == 0 || was == r.Settings[0].Value {
		return nil, fail
	}
	return []result.Change{{End: r.End, Knob: "mtu", Device: "eth0", Value: r.Settings[0].Value, Was: was}}, nil
}

func (k *keepers) Restore(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.restore++
	if k.st != nil && k.st.living() > 0 {
		k.bad = append(k.bad, "restored while a worker lived")
	}
	if ctx.Err() != nil {
		k.bad = append(k.bad, "restored with a context that had ended")
	}
	if k.fail == nil {
		k.mtu = "1500"
	}
	return k.fail
}

func (k *keepers) now() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mtu
}

func (k *keepers) set(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

func mtu(value string) ctl.Settings {
	return ctl.Settings{End: spec.EndRemote, List: []spec.Setting{{End: spec.EndRemote, Knob: "mtu", Value: value}}}
}

// lines collects what an agent logs.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) have(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.all, func(s string) bool { return strings.Contains(s, what) })
}

// setting is an agent that changes settings, with one session.
func setting(t *testing.T, cfg Config) (*held, *keepers, *lines) {
	t.Helper()
	k, log, st := newKeepers(), new(lines), newStable()
	k.st = st
	cfg.Settings, cfg.Keep, cfg.Log = true, k.keep, log.add
	h := hold(t, st, cfg)
	t.Cleanup(func() {
		h.finish(t)
		if len(k.bad) > 0 {
			t.Error(k.bad)
		}
	})
	return h, k, log
}

func (h *held) set(ctx context.Context, w ctl.Settings) error {
	_, err := h.Set(ctx, h.id, w)
	return err
}

func TestSetTellsWhatChanged(t *testing.T) {
	h, k, _ := setting(t, Config{})
	if got, err := h.Set(t.Context(), h.id, ctl.Settings{End: spec.EndRemote}); got != nil || err != nil || k.made != 0 {
		t.Errorf("nothing to set: %v, %v, %d holders", got, err, k.made)
	}
	if err := h.Unset(t.Context(), h.id); err != nil || k.restore != 0 {
		t.Errorf("nothing to unset: %v", err)
	}
	for range 2 { // what was unset can be set again
		got, err := h.Set(t.Context(), h.id, mtu("9000"))
		if err != nil || len(got) != 1 || got[0].Was != "1500" || got[0].Value != "9000" || got[0].End != spec.EndRemote {
			t.Errorf("got %+v, %v", got, err)
		}
		if got, err = h.Set(t.Context(), h.id, mtu("9000")); len(got) != 0 || err != nil {
			t.Errorf("set again: %+v, %v", got, err)
		}
		for _, step := range []string{"prepare", "arm", "run", "drain"} {
			if err := h.call(t.Context(), step, result.Remote); err != nil {
				t.Error(err)
			}
		}
		if k.now() != "9000" {
			t.Error("a trial has restored it")
		}
		if err := h.Unset(t.Context(), h.id); err != nil || k.now() != "1500" {
			t.Errorf("unset: %v, mtu %s", err, k.now())
		}
	}
	if !strings.Contains(k.who, `"tester"`) {
		t.Errorf("others are told of %s", k.who)
	}
	if _, err := h.Set(t.Context(), "other", mtu("9000")); !errors.Is(err, ctl.ErrNoSession) {
		t.Errorf("got %v", err)
	}
	if err := h.Unset(t.Context(), "other"); !errors.Is(err, ctl.ErrNoSession) {
		t.Errorf("got %v", err)
	}
}

// Without leave nothing is changed, and the refusal says how leave is given.
func TestSetRefused(t *testing.T) {
	command := ctl.Settings{End: spec.EndRemote, List: []spec.Setting{{End: spec.EndRemote, Knob: "command", Command: &spec.Command{Apply: "true"}}}}
	for _, c := range []struct {
		cfg  Config
		w    ctl.Settings
		want string
	}{
		{Config{}, mtu("9000"), "netdelta agent --settings"},
		{Config{}, command, "netdelta agent --settings"},
		{Config{Settings: true}, command, "netdelta agent --commands"},
		{Config{Settings: true}, mtu("9000"), ""},
		{Config{Settings: true, Commands: true}, command, ""},
		{Config{}, ctl.Settings{End: spec.EndRemote}, ""},
	} {
		k := newKeepers()
		c.cfg.Keep = k.keep
		h := hold(t, newStable(), c.cfg)
		err := h.set(t.Context(), c.w)
		if refused := errors.Is(err, feature.ErrUnavailable); refused != (c.want != "") || !refused && err != nil ||
			refused && (!strings.Contains(err.Error(), c.want) || k.made > 0) {
			t.Errorf("%+v: got %v, %d holders", c.w, err, k.made)
		}
		h.finish(t)
	}
}

// Settings are changed between trials only.
func TestSetWithinTrial(t *testing.T) {
	for s := range to {
		if s == idle {
			continue
		}
		h, k, _ := setting(t, Config{})
		h.bring(t, s)
		if err := h.set(t.Context(), mtu("9000")); !errors.Is(err, ctl.ErrState) || k.now() != "1500" {
			t.Errorf("%v: got %v", s, err)
		}
		if err := h.Unset(t.Context(), h.id); !errors.Is(err, ctl.ErrState) {
			t.Errorf("%v: unset: got %v", s, err)
		}
		if h.state() != s {
			t.Errorf("%v led to %v", s, h.state())
		}
	}
}

// However a session ends, in whatever state, what it set is restored after its
// worker has ended and before another session begins; and the log says so.
func TestSessionEndRestores(t *testing.T) {
	for _, c := range stops {
		if c.name == "abort" {
			continue
		}
		for s := range to {
			t.Run(c.name+"/"+s.String(), func(t *testing.T) {
				h, k, log := setting(t, Config{})
				for _, v := range []string{"9000", "4000"} {
					if err := h.set(t.Context(), mtu(v)); err != nil {
						t.Fatal(err)
					}
				}
				h.bring(t, s)
				c.stop(t, h)
				if k.now() != "1500" || !log.have("; restored: eth0.mtu=1500") {
					t.Errorf("mtu %s, %q", k.now(), log.all)
				}
			})
		}
	}
}

// What can't be restored is told, and so is what a change that failed had made.
func TestSessionEndTellsWhatIsNotRestored(t *testing.T) {
	h, k, log := setting(t, Config{})
	if err := h.set(t.Context(), mtu("9000")); err != nil {
		t.Fatal(err)
	}
	k.set(func() { k.fail = errors.New("device is gone") })
	if err := h.Unset(t.Context(), h.id); err == nil || !strings.Contains(err.Error(), "device is gone") {
		t.Errorf("unset: got %v", err)
	}
	h.leave()
	<-h.gone
	if !log.have("could NOT be restored") || !log.have("device is gone") || k.restore != 2 {
		t.Errorf("%q", log.all)
	}
	// The next session that sets something tries again, and so does the agent's end.
	h.id, h.leave, h.gone, _ = join(t, h.Agent)
	k.set(func() { k.fail = nil })
	if err := h.set(t.Context(), mtu("9000")); err != nil || k.restore != 3 || !log.have("restored at last") {
		t.Errorf("%v, restored %d times: %q", err, k.restore, log.all)
	}
	k.set(func() { k.fail = errors.New("device is gone") })
	h.leave()
	<-h.gone
	k.set(func() { k.fail = nil })
	h.Close()
	if k.restore != 5 || k.now() != "1500" {
		t.Errorf("restored %d times, mtu %s", k.restore, k.now())
	}

	h, k, log = setting(t, Config{})
	k.set(func() { k.fail = errors.New("no such feature") })
	if err := h.set(t.Context(), mtu("9000")); err == nil || !strings.Contains(err.Error(), "no such feature") {
		t.Errorf("got %v", err)
	}
	k.set(func() { k.fail = nil })
	if err := h.call(t.Context(), "arm", result.Remote); err == nil || strings.Contains(err.Error(), "no such feature") {
		t.Errorf("the failed change is taken for a trial: %v", err)
	}
	h.leave()
	<-h.gone
	if !log.have("what it had set is restored") {
		t.Errorf("%q", log.all)
	}
}

// A change under way is ended like a step of a trial.
func TestSetIsEnded(t *testing.T) {
	for _, c := range stops {
		t.Run(c.name, func(t *testing.T) {
			h, k, _ := setting(t, Config{})
			k.hang = true
			failed := make(chan error, 1)
			go func() { failed <- h.set(context.Background(), mtu("9000")) }()
			<-k.hung
			if err := h.call(t.Context(), "prepare", result.Remote); !errors.Is(err, ctl.ErrState) {
				t.Errorf("a step beside it: got %v", err)
			}
			c.stop(t, h)
			if err := <-failed; !errors.Is(err, ctl.ErrAborted) {
				t.Errorf("got %v, want %v", err, ctl.ErrAborted)
			}
			if c.name != "abort" && k.now() != "1500" {
				t.Errorf("mtu %s", k.now())
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		h, k, _ := setting(t, Config{})
		k.hang = true
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-k.hung; cancel() }()
		if err := h.set(ctx, mtu("9000")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// A change may last longer than a session may be idle.
func TestSetIsNoIdleness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, k, _ := setting(t, Config{Idle: time.Minute, Heartbeat: 20 * time.Second})
		k.hang = true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := h.set(ctx, mtu("9000")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := <-h.gone; !errors.Is(err, ctl.ErrIdle) || k.now() != "1500" {
			t.Errorf("without a step: %v, mtu %s", err, k.now())
		}
	})
}

// A session that changes settings has the host alone: it is refused beside
// others, and others are refused, or wait, beside it until all is restored.
func TestSettingIsAlone(t *testing.T) {
	h, k, _ := setting(t, Config{})
	other, leave, gone, _ := join(t, h.Agent)
	if err := h.set(t.Context(), mtu("9000")); !errors.Is(err, ctl.ErrBusy) || !strings.Contains(err.Error(), `"tester"`) || k.made > 0 {
		t.Errorf("beside another: got %v", err)
	}
	leave()
	<-gone
	if err := h.set(t.Context(), mtu("9000")); err != nil {
		t.Fatal(err)
	}
	if err := h.Abort(t.Context(), other); !errors.Is(err, ctl.ErrNoSession) {
		t.Errorf("got %v", err)
	}
	nobody := func(ctl.Event) error { return nil }
	if err := h.Open(t.Context(), ctl.Hold{}, nobody); !errors.Is(err, ctl.ErrBusy) || !strings.Contains(err.Error(), `"tester" has changed settings of the host`) {
		t.Errorf("another beside it: got %v", err)
	}
	// Not even when all is as it was: the session may be about to change it again.
	if err := h.Unset(t.Context(), h.id); err != nil {
		t.Fatal(err)
	}
	if err := h.Open(t.Context(), ctl.Hold{}, nobody); !errors.Is(err, ctl.ErrBusy) {
		t.Errorf("after unset: got %v", err)
	}
	if err := h.set(t.Context(), mtu("9000")); err != nil {
		t.Fatal(err)
	}
	waits, begun := make(chan bool, 1), make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- h.Open(ctx, ctl.Hold{Wait: time.Minute}, func(e ctl.Event) error {
			switch {
			case e.Busy != nil:
				waits <- true
			case e.Session != "":
				begun <- k.now()
			}
			return nil
		})
	}()
	<-waits
	h.leave()
	if got := <-begun; got != "1500" {
		t.Errorf("the next session began at mtu %s", got)
	}
	cancel()
	<-ended
}

// Who wants what somebody else holds is told so as one who comes to a host that is
// in use.
func TestSetHeldElsewhere(t *testing.T) {
	h, k, _ := setting(t, Config{})
	k.fail = fmt.Errorf("set eth0.mtu: %w: netdelta run on alpha, since noon", knob.ErrHeld)
	err := h.set(t.Context(), mtu("9000"))
	if !errors.Is(err, ctl.ErrBusy) || !errors.Is(err, knob.ErrHeld) || !strings.Contains(err.Error(), "on alpha") {
		t.Errorf("got %v", err)
	}
	k.fail = nil
}
