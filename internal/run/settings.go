package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// restoreBound is how long settings may take to be put back when a run ends,
// however it ends. What is not back by then is left to the agents, which restore
// when their session has ended.
const restoreBound = 2 * time.Minute

// side is one end, as far as its settings go.
type side struct {
	end     string
	client  *ctl.Client
	session **ctl.Session
	// sets says that some variant has settings that this end's agent makes: an
	// agent of which nothing is ever asked may be too old to be.
	sets bool
	// on is the session that has the settings of the slot under way; nil before.
	on *ctl.Session
	// held says that something may be set there that is not yet put back.
	held bool
}

// settingError is a variant whose settings could not be made.
type settingError struct {
	err error
	// hopeless: it would go no better the next time.
	hopeless bool
}

func (e *settingError) Error() string { return e.err.Error() }
func (e *settingError) Unwrap() error { return e.err }

// isHopeless says that a trial that failed so is not worth a second attempt.
func isHopeless(err error) bool {
	var s *settingError
	return errors.Is(err, ctl.ErrInvalid) || errors.As(err, &s) && s.hopeless
}

// agentSettings are those of a variant that the end's agent makes.
func agentSettings(p *spec.Plan, v spec.Variant, end string) []spec.Setting {
	return settingsOf(p, v, func(s spec.Setting, scope spec.Scope) bool {
		return s.At(end) && scope.ByAgent()
	})
}

// settingsOf are those of a variant that are wanted, by their scope. A valid plan
// has none of no scope.
func settingsOf(p *spec.Plan, v spec.Variant, want func(spec.Setting, spec.Scope) bool) []spec.Setting {
	var own []spec.Setting
	for _, s := range p.SettingsOf(v) {
		if row, _, err := s.Row(); err == nil && want(s, row.Scope) {
			own = append(own, s)
		}
	}
	return own
}

// sides finds out at which ends there is anything to set.
func (r *runner) sides() {
	r.near = side{end: spec.EndLocal, client: r.Local, session: &r.local}
	r.far = side{end: spec.EndRemote, client: r.Remote, session: &r.remote}
	for _, v := range r.Plan.Variants() {
		for _, s := range []*side{&r.near, &r.far} {
			s.sets = s.sets || len(agentSettings(&r.Plan, v, s.end)) > 0
		}
	}
}

// change makes a variant's settings at both ends, unless their sessions have them
// already. Each end then waits until the other one answers again: one that is
// under way to its new settings may not answer, but whichever began first saw the
// other one answer, and so one of them at least waits for the whole path. Where
// that can't be, or where commands may build on one another, the remote end goes
// first.
func (r *runner) change(ctx context.Context, v spec.Variant) error {
	near := func() error { return r.changeSide(ctx, &r.near, v) }
	far := func() error { return r.changeSide(ctx, &r.far, v) }
	if r.nearAddr().IsValid() && !hasCommand(r.Plan.SettingsOf(v)) {
		return both(near, far)
	}
	if err := far(); err != nil {
		return err
	}
	return near()
}

func hasCommand(settings []spec.Setting) bool {
	return slices.ContainsFunc(settings, func(s spec.Setting) bool { return s.Command != nil })
}

// nearAddr is the local end's address on the path; the zero Addr where only its
// host knows, which tells with the first trial.
func (r *runner) nearAddr() netip.Addr {
	if a := r.path.LocalAddr; a.IsValid() && !a.IsUnspecified() {
		return a
	}
	return r.localAddr
}

func (r *runner) changeSide(ctx context.Context, s *side, v spec.Variant) error {
	if !s.sets || s.on == *s.session {
		return nil
	}
	own, peer := r.nearAddr(), r.path.RemoteAddr
	if s.end == spec.EndRemote {
		own, peer = peer, own
	}
	s.held = true
	changes, err := (*s.session).Set(ctx, ctl.Settings{
		End: s.end, List: agentSettings(&r.Plan, v, s.end), Addr: own, Peer: peer, Probe: peer.IsValid(),
	})
	if err != nil {
		hopeless := errors.Is(err, feature.ErrUnavailable) || errors.Is(err, fs.ErrPermission)
		return &settingError{err, hopeless}
	}
	s.on = *s.session
	r.changed(s.end, changes)
	return nil
}

// changed adds to what was set for the slot under way. Of what was set twice,
// since a host had gone meanwhile, the later one counts.
func (r *runner) changed(end string, changes []result.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		c.End = end
		r.changes = slices.DeleteFunc(r.changes, func(o result.Change) bool {
			return o.End == c.End && o.Knob == c.Knob && o.Device == c.Device
		})
		r.changes = append(r.changes, c)
	}
}

// slotChanges are those of the slot under way, in the order of the ends: which
// of them was ready first is chance.
func (r *runner) slotChanges() []result.Change {
	var all []result.Change
	for _, end := range []string{spec.EndLocal, spec.EndRemote} {
		for _, c := range r.changes {
			if c.End == end {
				all = append(all, c)
			}
		}
	}
	return all
}

// unset puts back what is set at both ends, even if it was an interrupt that
// ended what it was set for. At a host that has gone that is its agent's to do:
// last has it told, since nothing else of the run will find out.
func (r *runner) unset(ctx context.Context, last bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreBound)
	defer cancel()
	err := both(
		func() error { return r.unsetSide(ctx, &r.near, last) },
		func() error { return r.unsetSide(ctx, &r.far, last) },
	)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnrestored, err)
	}
	return nil
}

func (r *runner) unsetSide(ctx context.Context, s *side, last bool) error {
	if !s.held {
		return nil
	}
	if *s.session == nil {
		if !last {
			return nil
		}
		return fmt.Errorf("host %s has gone and could not be asked: its agent puts back what it had set; netdelta restore there tells, and does so if it has not", s.client.Host())
	}
	if err := (*s.session).Unset(ctx); err != nil {
		return err
	}
	s.held, s.on = false, nil
	return nil
}
