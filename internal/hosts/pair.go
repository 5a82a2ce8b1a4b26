package hosts

import (
	"context"
	"fmt"
	"net"
	"sync"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
	"netdelta/internal/result"
)

// Pair is the two ends of a run.
type Pair struct {
	Local, Remote *ctl.Client
	// here says that the local end is this process's own.
	here bool
	ends []func()
}

// Target is an agent to connect to.
type Target struct {
	Name string // as the user wrote it, for messages
	Way  ctl.Transport
}

// Connect reaches the targets' agents. One target is the remote end, and the
// local one then is an agent within this process; of two the first is the
// local end and the second the remote one.
func Connect(ctx context.Context, targets []Target, version string, o ctl.Options) (*Pair, error) {
	o.Version = version
	p := &Pair{}
	clients := make([]*ctl.Client, len(targets))
	errs := make([]error, len(targets))
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() { clients[i], errs[i] = ctl.Dial(ctx, t.Name, &once{way: t.Way}, o) })
	}
	all.Wait()
	var err error
	for i, c := range clients {
		err = and(err, errs[i])
		if c != nil {
			p.ends = append(p.ends, c.Close)
		}
	}
	if err == nil && len(targets) == 1 {
		var end func()
		p.here, p.Remote = true, clients[0]
		o.Exclusive = false // nobody else can reach it
		if p.Local, end, err = Here(ctx, agent.Config{Version: version}, o); err == nil {
			p.ends = append(p.ends, end)
		}
	} else if err == nil {
		p.Local, p.Remote = clients[0], clients[1]
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close gives up the connections, and ends the agent that was started.
func (p *Pair) Close() {
	for _, end := range p.ends {
		end()
	}
	p.ends = nil
}

// Environments asks both hosts for the facts that bear on their figures.
func (p *Pair) Environments(ctx context.Context) ([]result.Environment, error) {
	var all []result.Environment
	for _, e := range []struct {
		end string
		c   *ctl.Client
	}{{result.Local, p.Local}, {result.Remote, p.Remote}} {
		one, err := environment(ctx, e.c, e.end)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// environment asks one host.
func environment(ctx context.Context, c *ctl.Client, end string) (result.Environment, error) {
	facts, err := c.Environment(ctx)
	if err != nil {
		return result.Environment{}, err
	}
	h := c.Hello()
	for _, f := range []result.Fact{{Name: result.FactHost, Value: h.Hostname}, {Name: "agent", Value: h.Version}} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return result.Environment{End: end, Facts: facts}, nil
}

// Warnings says what of the two agents may bear on the figures.
func (p *Pair) Warnings() []result.Warning { return warnings(p.Local.Hello(), p.Remote.Hello()) }

func warnings(local, remote ctl.Hello) []result.Warning {
	const advice = "use one version at both ends, and for all runs that are to be compared"
	var all []result.Warning
	if local.Version != remote.Version {
		all = append(all, result.Warning{
			Code: "versions-differ", Advice: advice,
			Text: fmt.Sprintf("the local end is netdelta %s, the remote one %s", local.Version, remote.Version),
		})
	}
	for _, e := range []struct {
		end   string
		agent ctl.Hello
	}{{result.Local, local}, {result.Remote, remote}} {
		if !e.agent.Counts() {
			all = append(all, result.Warning{
				Code: "older-agent", Advice: advice,
				Text: fmt.Sprintf("the %s end's agent, netdelta %s, is of a release that counts nothing: what a test cost there, and where datagrams were lost, is not known", e.end, e.agent.Version),
			})
		}
	}
	return all
}

// once is a way to an agent that stays with the address that it reached first:
// a name may stand for several hosts, and a run is about one.
type once struct {
	way ctl.Transport

	mu sync.Mutex
	at ctl.Transport // nil before the first connection
}

// Dial makes a connection.
func (o *once) Dial(ctx context.Context) (net.Conn, error) {
	o.mu.Lock()
	way := o.at
	o.mu.Unlock()
	if way == nil {
		way = o.way
	}
	conn, err := way.Dial(ctx)
	if err != nil {
		return nil, err
	}
	if tcp, ok := o.way.(ctl.TCP); ok {
		tcp.Addr = conn.RemoteAddr().String()
		o.mu.Lock()
		o.at = tcp
		o.mu.Unlock()
	}
	return conn, nil
}

// Check reports what is wrong with the way before it is tried.
func (o *once) Check() error {
	if way, ok := o.way.(interface{ Check() error }); ok {
		return way.Check()
	}
	return nil
}

// String names the way as it was given.
func (o *once) String() string { return o.way.String() }

// and joins two errors, each of which may be nil, in one line.
func and(a, b error) error {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}
