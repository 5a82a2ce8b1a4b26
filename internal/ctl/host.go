package ctl

import (
	"context"
	"net/netip"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// Hello is how one side of the protocol introduces itself.
type Hello struct {
	Version  string // of the program
	Protocol uint32 // see Protocol
	Hostname string // of an agent; a client has none
}

// Event is what an agent tells the holder of a session.
type Event struct {
	Session   string // the session's name; the first event has it
	Heartbeat bool
}

// Host is what an agent does for its clients, as [Handler] mounts it. Errors
// that are or wrap one of this package's reach the client as that error.
// Contexts end when the client gives up or its connection breaks.
type Host interface {
	// Hello tells who serves.
	Hello() Hello
	// Open holds a session until ctx ends or the host closes. It sends the
	// session's name first. When it returns, all that the session held is
	// free.
	Open(ctx context.Context, client string, send func(Event) error) error
	// Prepare starts a worker for one end of one trial and tells the port
	// that it has bound, 0 where the test has none.
	Prepare(ctx context.Context, session string, cfg traffic.Config) (port uint16, err error)
	// Arm names the peer's address on the path, with port 0 where the test
	// has no port.
	Arm(ctx context.Context, session string, peer netip.AddrPort) error
	// Run starts the traffic: at the local end it returns the figures when
	// the window is over, at the remote end nil at once.
	Run(ctx context.Context, session string) (*result.End, error)
	// Drain ends a remote end's trial and returns its figures.
	Drain(ctx context.Context, session string) (*result.End, error)
	// Abort ends the trial under way, if there is one.
	Abort(ctx context.Context, session string) error
}
