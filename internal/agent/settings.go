package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/knob"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// restoreBound is how long what a session has set may take to be restored when
// the session has ended. What is not restored by then stays in the journal.
const restoreBound = 2 * time.Minute

// Keeper changes settings of the host for one session and restores them, as a
// knob.Holder does.
type Keeper interface {
	Set(context.Context, knob.Request) ([]result.Change, error)
	Restore(context.Context) error
}

// holderOf returns what makes a session's knob.Holder.
func holderOf(cfg Config) func(who string) Keeper {
	return func(who string) Keeper {
		return knob.NewHolder(knob.Config{Journal: cfg.Journal, NS: cfg.NS, Who: who, Commands: cfg.Commands})
	}
}

// Set makes settings of the host hold until the session's Unset or end. From the
// first on the session has the host alone: others would measure what was changed
// for this one.
func (a *Agent) Set(ctx context.Context, id string, w ctl.Settings) ([]result.Change, error) {
	s, err := a.find(id)
	if err != nil {
		return nil, err
	}
	if len(w.List) > 0 {
		if err := a.allows(w); err != nil {
			return nil, err
		}
		if err := a.isolate(s); err != nil {
			return nil, err
		}
	}
	return s.set(ctx, w, a.again)
}

// Unset restores what the session's settings were. The session keeps the host to
// itself.
func (a *Agent) Unset(ctx context.Context, id string) error {
	s, err := a.find(id)
	if err != nil {
		return err
	}
	return s.unset(ctx)
}

// allows says whether the agent was started so that clients may have this set. A
// refusal is of the kind that waiting does not help against.
func (a *Agent) allows(w ctl.Settings) error {
	if !a.cfg.Settings {
		return fmt.Errorf("set %s: %w: this agent changes no settings of its host for clients; start it with netdelta agent --settings",
			w.List[0], feature.ErrUnavailable)
	}
	i := slices.IndexFunc(w.List, func(s spec.Setting) bool { return s.Command != nil })
	if i >= 0 && !a.cfg.Commands {
		return fmt.Errorf("set %s: %w: this agent runs no commands for clients; start it with netdelta agent --commands",
			w.List[i], feature.ErrUnavailable)
	}
	return nil
}

// isolate makes the session the only one that the agent has until it ends.
func (a *Agent) isolate(s *session) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions[s.id] != s {
		return ctl.ErrNoSession
	}
	if s.alone {
		return nil
	}
	var first *session
	for _, o := range a.sessions {
		if o != s && (first == nil || o.number < first.number) {
			first = o
		}
	}
	if first != nil {
		return fmt.Errorf("%w: others have it too (%d, the first is %s, since %s), and would measure what is changed for this one: settings are changed for a session that is alone",
			ctl.ErrBusy, len(a.sessions)-1, who(first.hold), clock(first.opened))
	}
	s.alone = true
	a.next() // those who wait are told for what, from now on
	return nil
}

// set makes settings hold. It is a step: one at a time, between trials, ended by
// abort and by the session's end.
// first is done before, within that step.
func (s *session) set(ctx context.Context, w ctl.Settings, first func(context.Context)) (changes []result.Change, err error) {
	err = s.carryOut(ctx, set, func(ctx context.Context) (event, error) {
		if s.keeper == nil && len(w.List) == 0 {
			return nothing, nil
		}
		if s.keeper == nil {
			s.keeper = s.keep(who(s.hold))
		}
		first(ctx)
		made, err := s.keeper.Set(ctx, knob.Request{End: w.End, Settings: w.List, Addr: w.Addr, Peer: w.Peer, Probe: w.Probe})
		s.note(made)
		changes = made
		return nothing, settingError(err)
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// unset restores everything that set has changed.
func (s *session) unset(ctx context.Context) error {
	return s.carryOut(ctx, unset, func(ctx context.Context) (event, error) {
		if s.keeper == nil {
			return nothing, nil
		}
		if err := s.keeper.Restore(ctx); err != nil {
			return nothing, err // the session's end tries again
		}
		s.keeper, s.made = nil, nil
		return nothing, nil
	})
}

// note remembers for the log what was changed, and what it was at first.
func (s *session) note(changes []result.Change) {
	for _, c := range changes {
		if !slices.ContainsFunc(s.made, func(m result.Change) bool { return m.Knob == c.Knob && m.Device == c.Device }) {
			s.made = append(s.made, c)
		}
	}
}

// restore puts back what the session has set, when it has ended and no step or
// worker of it is left, and says so for the log.
func (a *Agent) restore(s *session) string {
	if s.keeper == nil {
		return ""
	}
	// Whatever ended the session must not end this.
	ctx, cancel := context.WithTimeout(context.Background(), restoreBound)
	defer cancel()
	if err := s.keeper.Restore(ctx); err != nil {
		a.mu.Lock()
		a.failed = append(a.failed, s.keeper)
		a.mu.Unlock()
		return fmt.Sprintf("; what it had set could NOT be restored, all or in part, and is tried again by the next session that sets anything, at this agent's end, and then by netdelta restore: %v", err)
	}
	if len(s.made) == 0 {
		return "; what it had set is restored"
	}
	names := make([]string, len(s.made))
	for i, c := range s.made {
		names[i] = spec.Setting{Knob: c.Knob, Device: c.Device, Value: fmt.Sprintf("%.60s", c.Was)}.String()
	}
	return "; restored: " + strings.Join(names, ", ")
}

// again tries to restore what could not be when its session ended: this process
// still holds it, so that nobody else can.
func (a *Agent) again(ctx context.Context) {
	a.mu.Lock()
	failed := a.failed
	a.failed = nil
	a.mu.Unlock()
	var left []Keeper
	for _, k := range failed {
		if err := k.Restore(ctx); err != nil {
			left = append(left, k)
			a.cfg.Log(fmt.Sprintf("what an earlier session had set still can NOT be restored: %v", err))
			continue
		}
		a.cfg.Log("what an earlier session had set is restored at last")
	}
	a.mu.Lock()
	a.failed = append(a.failed, left...)
	a.mu.Unlock()
}

// taken is a setting that somebody else holds.
type taken struct{ error }

func (t taken) Unwrap() []error { return []error{ctl.ErrBusy, t.error} }

// settingError is a knob's error in the protocol's terms, in its own words.
func settingError(err error) error {
	if errors.Is(err, knob.ErrHeld) {
		return taken{err}
	}
	return err
}
