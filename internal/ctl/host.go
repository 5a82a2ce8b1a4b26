package ctl

import (
	"context"
	"net/netip"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// Hello is how one side of the protocol introduces itself.
type Hello struct {
	Version string // of the program
	// Protocol is the newest version of the protocol that an agent speaks, as
	// it tells it; what Client.Hello returns has the agreed one.
	Protocol uint32
	Hostname string // of an agent; a client has none
}

// Hold is what a client asks for when it opens a session.
type Hold struct {
	Client  string // who asks
	Version string // of the client's program
	From    string // the address from which it asks, for messages
	// Exclusive asks for a session beside which there is no other.
	Exclusive bool
	// Wait is how long the client will wait for others to leave; 0 has it
	// refused at once with ErrBusy or ErrLimit.
	Wait time.Duration
}

// Busy is why a session cannot be had yet.
type Busy struct {
	Reason string    // a sentence
	Holder string    // who has the host: of several the one that came first
	Since  time.Time // by the host's clock
}

// Event is what an agent tells the holder of a session, or who waits for one.
// One field is set.
type Event struct {
	Session   string // the session's name; the first event that is neither of the next two
	Heartbeat bool
	Busy      *Busy  // the session is still to come
	Interval  []byte // what the worker tells while traffic flows, as JSON
}

// Host is what an agent does for its clients, as [Handler] mounts it. Errors
// that are or wrap one of this package's reach the client as that error.
// Contexts end when the client gives up or its connection breaks.
type Host interface {
	// Hello tells who serves.
	Hello() Hello
	// Environment tells the facts of the host that bear on its figures.
	Environment(ctx context.Context) ([]result.Fact, error)
	// Checkup tells what the host does for so long while nothing is measured.
	// It fails with ErrBusy while something is.
	Checkup(ctx context.Context, l Look) (*result.Counters, error)
	// Open holds a session until ctx ends or the host closes. It sends the
	// session's name when it can be had. When it returns, all that the
	// session held is free.
	Open(ctx context.Context, h Hold, send func(Event) error) error
	// Prepare starts a worker for one end of one trial and tells the address
	// and port that it has bound, port 0 where the test has none.
	Prepare(ctx context.Context, session string, cfg traffic.Config) (netip.AddrPort, error)
	// Arm names the peer's address on the path, with port 0 where the test
	// has no port.
	Arm(ctx context.Context, session string, peer netip.AddrPort) error
	// Run starts the traffic: at the local end it returns the figures when
	// the window is over, at the remote end nil at once.
	Run(ctx context.Context, session string) (*result.End, error)
	// Drain ends a remote end's trial and returns its figures.
	Drain(ctx context.Context, session string) (*result.End, error)
	// Set makes settings of the host hold, in place of those of the session's
	// last Set, while no trial is under way, and tells what it has changed. What
	// they were is restored when the session ends.
	Set(ctx context.Context, session string, w Settings) ([]result.Change, error)
	// Unset restores what the session's settings were.
	Unset(ctx context.Context, session string) error
	// Abort ends the trial or the change of settings under way, if there is one.
	Abort(ctx context.Context, session string) error
}
