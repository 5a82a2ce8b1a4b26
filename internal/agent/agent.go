// Package agent is one host's side of the control protocol. It starts a
// worker for its end of each trial, keeps it for as long as its client's
// session lives, and ends it whatever happens. It never measures: the worker
// does.
package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// Defaults of a Config.
const (
	MaxSessions = 8
	Heartbeat   = 5 * time.Second
	Grace       = 30 * time.Second
)

// Config says which host an agent serves, and how. Zero values stand for the
// defaults.
type Config struct {
	// Name is the host's; the machine's host name by default.
	Name string
	// Version is the program's, for clients to see.
	Version string
	// NS is the network namespace in which workers run; nil is the agent's.
	NS *sys.NetNS
	// Start replaces the worker process.
	Start func() (Worker, error)
	// MaxSessions is how many sessions may be held at a time.
	MaxSessions int
	// Heartbeat is the time between signs of life on a session's stream.
	Heartbeat time.Duration
	// Grace is how long, beside its warm-up and window, a trial may run. A
	// client that vanished without a word cannot hold a host for longer.
	Grace time.Duration
}

// Agent serves one host. It is a ctl.Host.
type Agent struct {
	cfg     Config
	closing chan struct{}
	open    sync.WaitGroup // one for each session's stream

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
}

var _ ctl.Host = (*Agent)(nil)

// New returns an agent with no sessions.
func New(cfg Config) *Agent {
	if cfg.Name == "" {
		// An unnamed machine is no reason not to serve.
		cfg.Name, _ = os.Hostname()
	}
	if cfg.Start == nil {
		cfg.Start = processIn(cfg.NS)
	}
	if cfg.MaxSessions == 0 {
		cfg.MaxSessions = MaxSessions
	}
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = Heartbeat
	}
	if cfg.Grace == 0 {
		cfg.Grace = Grace
	}
	return &Agent{cfg: cfg, closing: make(chan struct{}), sessions: map[string]*session{}}
}

// Close ends every session with its worker and returns when they have ended.
// New sessions are refused.
func (a *Agent) Close() {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		close(a.closing)
	}
	a.mu.Unlock()
	a.open.Wait()
}

// Hello tells who serves.
func (a *Agent) Hello() ctl.Hello {
	return ctl.Hello{Version: a.cfg.Version, Protocol: ctl.Protocol, Hostname: a.cfg.Name}
}

// Open holds a session until ctx ends, sending fails or the agent closes.
func (a *Agent) Open(ctx context.Context, client string, send func(ctl.Event) error) error {
	s, err := a.admit(client)
	if err != nil {
		return err
	}
	defer a.release(s)
	if err := send(ctl.Event{Session: s.id}); err != nil {
		return err
	}
	beat := time.NewTicker(a.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-a.closing:
			return ctl.ErrClosing
		case <-beat.C:
			// While traffic flows the stream is silent; the trial's own
			// deadline watches the client meanwhile.
			if s.measuring() {
				continue
			}
			if err := send(ctl.Event{Heartbeat: true}); err != nil {
				return err
			}
		}
	}
}

// Prepare starts a worker for one end of one trial.
func (a *Agent) Prepare(ctx context.Context, id string, cfg traffic.Config) (uint16, error) {
	s, err := a.find(id)
	if err != nil {
		return 0, err
	}
	return s.prepare(ctx, cfg)
}

// Arm tells the worker its peer.
func (a *Agent) Arm(ctx context.Context, id string, peer netip.AddrPort) error {
	s, err := a.find(id)
	if err != nil {
		return err
	}
	return s.arm(ctx, peer)
}

// Run starts the traffic; at the local end it returns the figures when the
// window is over.
func (a *Agent) Run(ctx context.Context, id string) (*result.End, error) {
	s, err := a.find(id)
	if err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// Drain ends a remote end's trial and returns its figures.
func (a *Agent) Drain(ctx context.Context, id string) (*result.End, error) {
	s, err := a.find(id)
	if err != nil {
		return nil, err
	}
	return s.drain(ctx)
}

// Abort ends the trial under way and returns when its worker has ended.
func (a *Agent) Abort(_ context.Context, id string) error {
	s, err := a.find(id)
	if err != nil {
		return err
	}
	s.abort(fmt.Errorf("%w by the client", ctl.ErrAborted))
	return nil
}

// admit makes a session, if there is room for it.
func (a *Agent) admit(client string) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ctl.ErrClosing
	}
	if len(a.sessions) >= a.cfg.MaxSessions {
		return nil, fmt.Errorf("%w: %d are open, as many as this agent takes, the oldest by %q: close one first",
			ctl.ErrLimit, len(a.sessions), a.oldest().client)
	}
	s := &session{
		id:     rand.Text(),
		client: client,
		opened: time.Now(),
		start:  a.cfg.Start,
		grace:  a.cfg.Grace,
		state:  idle,
	}
	a.sessions[s.id] = s
	a.open.Add(1)
	return s, nil
}

func (a *Agent) oldest() *session {
	var all []*session
	for _, s := range a.sessions {
		all = append(all, s)
	}
	return slices.MinFunc(all, func(x, y *session) int { return x.opened.Compare(y.opened) })
}

// release forgets the session and ends its worker.
func (a *Agent) release(s *session) {
	defer a.open.Done()
	a.mu.Lock()
	delete(a.sessions, s.id)
	a.mu.Unlock()
	s.end()
}

func (a *Agent) find(id string) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.sessions[id]
	if !ok {
		return nil, ctl.ErrNoSession
	}
	return s, nil
}
