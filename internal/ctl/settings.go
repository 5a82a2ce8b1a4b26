package ctl

import (
	"context"
	"net/netip"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Settings is what is to hold at a host while a variant is measured.
type Settings struct {
	End  string // spec.EndLocal or spec.EndRemote
	List []spec.Setting
	// Addr and Peer are the host's own address on the path and the far end's, by
	// which the path's interface is found; either may be the zero Addr.
	Addr, Peer netip.Addr
	// Probe has the host wait after a change until Peer answers again.
	Probe bool
}

// Set makes the settings hold, in place of those that the session's last Set
// asked for, and tells what was changed for that. What they were is restored by
// Unset, and by the end of the session.
func (s *Session) Set(ctx context.Context, w Settings) ([]result.Change, error) { return nil, nil }

// Unset puts back what the session's settings were before.
func (s *Session) Unset(ctx context.Context) error { return nil }
