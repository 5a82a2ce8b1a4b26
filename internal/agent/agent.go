// Package agent is one host's side of the control protocol. It starts a
// worker for its end of each trial, keeps it for as long as its client's
// session lives, and ends it whatever happens. It never measures: the worker
// does.
package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"netdelta/internal/counters"
	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// Defaults of a Config.
const (
	MaxSessions = 8
	Heartbeat   = 5 * time.Second
	Grace       = 30 * time.Second
	Idle        = 10 * time.Minute
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
	// Group is the directory of the control group in which workers run, as sys.StartIn
	// has it; nil is the agent's. It stays open for as long as the agent.
	Group *os.File
	// Start replaces the worker process.
	Start func() (Worker, error)
	// MaxSessions is how many sessions may be held at a time.
	MaxSessions int
	// DataPorts are the ports that workers listen at; any by default.
	DataPorts Ports
	// Files lets clients name a file of this host that is sent to the other
	// one. Without it they can have one made for the trial only: whoever may
	// measure need not be allowed to read what this process can.
	Files bool
	// Settings lets clients change settings of this host, and Commands lets them
	// have commands of theirs run for that.
	Settings, Commands bool
	// Journal is the directory in which is kept what settings were; the default of
	// package knob if empty.
	Journal string
	// Keep replaces the knob.Holder of a session; who is whom others are told of.
	Keep func(who string) Keeper
	// Heartbeat is the time between signs of life on a session's stream.
	Heartbeat time.Duration
	// Grace is how long, beside its warm-up and window, a trial may run. A
	// client that vanished without a word cannot hold a host for longer.
	Grace time.Duration
	// Idle is how long a session may be held without a step. A client that was
	// stopped, and so neither died nor closes its session, cannot keep others
	// out for longer.
	Idle time.Duration
	// Log is told in a line when a session begins and when it ends. It may be
	// nil, and is called by several goroutines.
	Log func(line string)
}

// Agent serves one host. It is a ctl.Host.
type Agent struct {
	cfg     Config
	closing chan struct{}
	open    sync.WaitGroup // one for each session's stream

	mu       sync.Mutex
	closed   bool
	number   int // of the latest session
	sessions map[string]*session
	queue    []*waiter // who waits for a session, the first first
	looking  bool      // a checkup is under way
	failed   []Keeper  // of what could not be restored when its session ended
}

var _ ctl.Host = (*Agent)(nil)

// New returns an agent with no sessions.
func New(cfg Config) *Agent {
	if cfg.Name == "" {
		// An unnamed machine is no reason not to serve.
		cfg.Name, _ = os.Hostname()
	}
	if cfg.Start == nil {
		cfg.Start = processIn(cfg.NS, cfg.Group)
	}
	if cfg.Keep == nil {
		cfg.Keep = holderOf(cfg)
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
	if cfg.Idle == 0 {
		cfg.Idle = Idle
	}
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	return &Agent{cfg: cfg, closing: make(chan struct{}), sessions: map[string]*session{}}
}

// Close ends every session with its worker, restores what they have set, and
// returns when that is done. New sessions are refused.
func (a *Agent) Close() {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		close(a.closing)
	}
	a.mu.Unlock()
	a.open.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), restoreBound)
	defer cancel()
	a.again(ctx)
}

// Hello tells who serves.
func (a *Agent) Hello() ctl.Hello {
	return ctl.Hello{Version: a.cfg.Version, Protocol: ctl.Protocol, Hostname: a.cfg.Name}
}

// Environment tells the facts of the machine, and of the network in the
// namespace in which workers run.
func (a *Agent) Environment(context.Context) ([]result.Fact, error) {
	var facts []result.Fact
	read := func() error {
		facts = append(counters.Environment(), counters.Devices()...)
		return nil
	}
	var err error
	if a.cfg.NS == nil {
		err = read()
	} else {
		err = a.cfg.NS.Do(read)
	}
	return facts, err
}

// Open holds a session until ctx ends, sending fails or the agent closes.
func (a *Agent) Open(ctx context.Context, h ctl.Hold, send func(ctl.Event) error) error {
	s, err := a.admit(ctx, h, send)
	if err != nil {
		return err
	}
	a.cfg.Log(s.begins())
	err = a.hold(ctx, s, send)
	why := fmt.Errorf("%w: the session ended", ctl.ErrAborted)
	if errors.Is(err, ctl.ErrClosing) || errors.Is(err, ctl.ErrIdle) {
		why = fmt.Errorf("%w: %w", ctl.ErrAborted, err)
	}
	s.end(why)
	restored := a.restore(s)
	a.release(s)
	a.cfg.Log(s.ends(err) + restored)
	a.open.Done()
	return err
}

// hold tells the client what there is to tell while its session lives, and
// returns why it no longer does.
func (a *Agent) hold(ctx context.Context, s *session, send func(ctl.Event) error) error {
	if err := send(ctl.Event{Session: s.id}); err != nil {
		return err
	}
	beat := time.NewTicker(a.cfg.Heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-a.closing:
			return ctl.ErrClosing
		case i := <-s.intervals:
			err = send(ctl.Event{Interval: i})
		case <-beat.C:
			// While traffic flows the stream is silent; the trial's own
			// deadline watches the client meanwhile.
			if s.measuring() {
				continue
			}
			if s.idle() > a.cfg.Idle {
				return fmt.Errorf("%w: no step within %v", ctl.ErrIdle, a.cfg.Idle)
			}
			err = send(ctl.Event{Heartbeat: true})
		}
		if err != nil {
			return err
		}
	}
}

// Prepare starts a worker for one end of one trial, at one of the agent's data
// ports.
func (a *Agent) Prepare(ctx context.Context, id string, cfg traffic.Config) (netip.AddrPort, error) {
	s, err := a.find(id)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if kind := cfg.Test.Kind(); cfg.Test.Params.File != "" && !a.cfg.Files &&
		(cfg.Role == result.Local && kind.Sends() || cfg.Role == result.Remote && kind.Receives()) {
		return netip.AddrPort{}, fmt.Errorf("send %s: %w: this agent sends no files of its host; leave file= out (filesize= has one made for the trial), or start it with --files",
			cfg.Test.Params.File, feature.ErrUnavailable)
	}
	if err := a.cfg.DataPorts.apply(&cfg); err != nil {
		return netip.AddrPort{}, err
	}
	if err := place(a.cfg.NS, &cfg); err != nil {
		return netip.AddrPort{}, err
	}
	port, err := s.prepare(ctx, cfg)
	return netip.AddrPortFrom(cfg.Addr, port), err
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

// Abort ends the trial under way and returns when its worker has ended, or the
// change of settings under way: what of it was made stays so.
func (a *Agent) Abort(_ context.Context, id string) error {
	s, err := a.find(id)
	if err != nil {
		return err
	}
	s.abort(fmt.Errorf("%w by the client", ctl.ErrAborted))
	return nil
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
