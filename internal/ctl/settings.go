package ctl

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"connectrpc.com/connect"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	controlv1 "netdelta/proto/controlv1"
)

// protocolSettings is the version of the protocol from which on an agent changes
// settings of its host.
const protocolSettings = 4

// Bounds of the time that a change takes, beside the step's own.
const (
	// ChangeBound is for one setting: some drivers take the link down for one, which
	// may be half a minute in coming back, and then the peer is waited for.
	ChangeBound = time.Minute
	// CommandBound is for what a user has run, and for the check of it: ten minutes
	// each, in which a driver is loaded anew or a machine elsewhere is set up.
	CommandBound = 20 * time.Minute
	// linkDown is for how long the control connection, which may go over the very
	// link that a change takes down, may be silent for it.
	linkDown = 30 * time.Second
)

// Settings is what is to hold at a host while a variant is measured.
type Settings struct {
	End  string         `json:"end"` // spec.EndLocal or spec.EndRemote
	List []spec.Setting `json:"settings"`
	// Addr and Peer are the host's own address on the path and the far end's, by
	// which the path's interface is found; either may be the zero Addr.
	Addr netip.Addr `json:"addr,omitzero"`
	Peer netip.Addr `json:"peer,omitzero"`
	// Probe has the host wait after a change until Peer answers again.
	Probe bool `json:"probe,omitempty"`
}

// bound is how long it may take until the settings hold.
func (w Settings) bound() (all time.Duration) {
	for _, s := range w.List {
		all += ChangeBound
		if s.Command != nil {
			all += CommandBound
		}
	}
	return all
}

// mayCutLink says that a control connection over the path may fall silent while
// the settings are made.
func (w Settings) mayCutLink() bool {
	for _, s := range w.List {
		if row, _, err := s.Row(); err == nil && row.Scope != spec.OnHost {
			return true
		}
	}
	return false
}

// Set makes the settings hold, in place of those that the session's last Set
// asked for, and tells what was changed for that. What they were is restored by
// Unset, and by the end of the session. No trial can be under way meanwhile.
//
// It may take ChangeBound for each setting and CommandBound for each command, but
// fails as soon as the session is lost. An agent that is too old, or that was not
// started to change settings, is feature.ErrUnavailable; settings that somebody
// else has changed, or other sessions beside this one, are ErrBusy. A list of
// nothing is no reason to fail for either of the first two.
func (s *Session) Set(ctx context.Context, w Settings) ([]result.Change, error) {
	const name = "set"
	if s.c.hello.Protocol < protocolSettings {
		if len(w.List) == 0 {
			return nil, nil
		}
		return nil, &Error{Host: s.c.host, Step: name, Kind: feature.ErrUnavailable,
			Text: fmt.Sprintf("the agent there, netdelta %s, is of a release that changes no settings: install the same version at both ends", s.c.hello.Version)}
	}
	data, err := EncodeSettings(w)
	if err != nil {
		return nil, s.fail(name, fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	if w.mayCutLink() {
		s.c.pool.expect(linkDown)
	}
	// What the last Set made may have to be restored first, and what this one does
	// later, be it made or not.
	last := s.setting
	s.setting = max(s.setting, w.bound())
	res, err := step(ctx, s, name, s.c.opts.Bound+last+w.bound(), s.c.rpc.Set, &controlv1.SetRequest{Session: s.id, Settings: data})
	if err != nil {
		return nil, s.c.older(err)
	}
	changes, err := decodeChanges(res.GetChanges())
	if err != nil {
		return nil, s.fail(name, err)
	}
	return changes, nil
}

// Unset puts back what the session's settings were before. It may take as long
// as Set.
func (s *Session) Unset(ctx context.Context) error {
	if s.c.hello.Protocol < protocolSettings {
		return nil // nothing was set there
	}
	_, err := step(ctx, s, "unset", s.c.opts.Bound+s.setting, s.c.rpc.Unset, &controlv1.UnsetRequest{Session: s.id})
	return err
}

func (s *server) Set(ctx context.Context, req *connect.Request[controlv1.SetRequest]) (*connect.Response[controlv1.SetResponse], error) {
	w, err := DecodeSettings(req.Msg.GetSettings())
	if err != nil {
		return nil, toWire(fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	h := s.holding(ctx, req.Msg.GetSession())
	if w.mayCutLink() {
		h.pool.expect(linkDown)
	}
	changes, err := s.host.Set(ctx, req.Msg.GetSession(), w)
	if err != nil {
		return nil, toWire(err)
	}
	data, err := encodeChanges(changes)
	return answer(&controlv1.SetResponse{Changes: data}, err)
}

func (s *server) Unset(ctx context.Context, req *connect.Request[controlv1.UnsetRequest]) (*connect.Response[controlv1.UnsetResponse], error) {
	s.holding(ctx, req.Msg.GetSession()) // for the patience that Set asked for
	return answer(&controlv1.UnsetResponse{}, s.host.Unset(ctx, req.Msg.GetSession()))
}
