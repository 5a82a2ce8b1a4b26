package ctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"connectrpc.com/connect"

	"netdelta/internal/result"
	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

// StepBound is how long a step may take by default, beside a trial's own
// warm-up and window.
const StepBound = 10 * time.Second

// Options of a client. The zero value is usable.
type Options struct {
	// Version is the program's, for the agent's eyes.
	Version string
	// Client names who asks, in the agent's messages; at most 128 bytes.
	Client string
	// Bound replaces StepBound.
	Bound time.Duration

	// Exclusive asks for sessions beside which the host has no other.
	Exclusive bool
	// Wait is how long Open waits for others to leave the host where there is
	// no room beside them; with 0 it fails at once with ErrBusy or ErrLimit.
	Wait time.Duration
	// Waiting is told what Open waits for, and again when that changes. It
	// may be nil, and is called from another goroutine.
	Waiting func(Busy)
	// Interval is told figures of intervals, as JSON, while a trial runs. It
	// may be nil, and is called from another goroutine.
	Interval func([]byte)
}

// Client is a connection to one host's agent. It can be used by several
// goroutines.
type Client struct {
	host      string
	transport Transport
	opts      Options
	http      *http.Client
	rpc       controlv1connect.HostClient
	hello     Hello

	// alive ends with Close, which waits for dials: HTTP begins some that it
	// then does not need, and lets go of.
	alive context.Context
	end   context.CancelFunc
	dials sync.WaitGroup
	pool  pool

	mu            sync.Mutex
	local, remote netip.AddrPort // of the latest connection
}

// Dial reaches the agent of the host, whose name is only used in messages,
// and checks that it speaks the same protocol.
func Dial(ctx context.Context, host string, t Transport, o Options) (*Client, error) {
	if o.Bound == 0 {
		o.Bound = StepBound
	}
	if t, ok := t.(interface{ Check() error }); ok {
		// What cannot work is told before anything is tried.
		if err := t.Check(); err != nil {
			return nil, &Error{Host: host, Step: "connect", Kind: ErrInvalid, Text: err.Error()}
		}
	}
	c := &Client{host: host, transport: t, opts: o}
	c.alive, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return c.connect(ctx) },
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// The transport knows the address; HTTP only wants a name.
	c.rpc = controlv1connect.NewHostClient(c.http, "http://agent",
		connect.WithReadMaxBytes(maxAnswer),
		connect.WithAcceptCompression("gzip", nil, nil))
	if err := c.greet(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

var errClientClosed = errors.New("the client was closed")

// connect makes one of the client's connections.
func (c *Client) connect(ctx context.Context) (net.Conn, error) {
	c.mu.Lock()
	if c.alive.Err() != nil {
		c.mu.Unlock()
		return nil, errClientClosed
	}
	c.dials.Add(1) // Close has not begun to wait
	c.mu.Unlock()
	defer c.dials.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.alive, func() { cancel(errClientClosed) })()
	conn, err := c.transport.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.local, c.remote = addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	c.pool.add(conn)
	return pooledConn{conn, &c.pool}, nil
}

// greet introduces both sides and finds the version of the protocol that they
// have in common.
func (c *Client) greet(ctx context.Context) error {
	res, err := call(ctx, c, "hello", c.opts.Bound, c.rpc.Hello,
		&controlv1.HelloRequest{Version: c.opts.Version, Protocol: ours.newest, MinProtocol: ours.oldest})
	if err != nil {
		return err
	}
	theirs := spanOf(res.GetMinProtocol(), res.GetProtocol())
	version, ok := agree(ours, theirs)
	if !ok {
		return &Error{Host: c.host, Step: "hello", Kind: ErrProtocol,
			Text: fmt.Sprintf("the agent (%s) speaks control protocol %v, this program (%s) %v: install the same version at both ends",
				release(res.GetVersion()), theirs, release(c.opts.Version), ours)}
	}
	c.hello = Hello{Version: res.GetVersion(), Protocol: version, Hostname: res.GetHostname()}
	return nil
}

// Environment asks for the facts of the host that bear on its figures.
func (c *Client) Environment(ctx context.Context) ([]result.Fact, error) {
	res, err := call(ctx, c, "environment", c.opts.Bound, c.rpc.Environment, &controlv1.EnvironmentRequest{})
	if err != nil {
		return nil, err
	}
	facts, err := decodeFacts(res.GetFacts())
	if err != nil {
		return nil, &Error{Host: c.host, Step: "environment", Text: err.Error(), Kind: err}
	}
	return facts, nil
}

// LocalAddr is this host's address and port on the way to the agent, by the
// latest connection; the zero AddrPort where the transport has no IP
// addresses.
func (c *Client) LocalAddr() netip.AddrPort {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local
}

// RemoteAddr is the agent's address and port, likewise.
func (c *Client) RemoteAddr() netip.AddrPort {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remote
}

// Host is the name that was given to Dial.
func (c *Client) Host() string { return c.host }

// Hello is how the agent introduced itself, with the version of the protocol
// that is spoken.
func (c *Client) Hello() Hello { return c.hello }

// Close gives up idle connections, and those that are being made; nothing can
// be asked of the client any more. Sessions are closed one by one before.
func (c *Client) Close() {
	c.mu.Lock()
	c.end()
	c.mu.Unlock()
	c.dials.Wait()
	c.http.CloseIdleConnections()
}

// call makes one call with a bound on its time and turns its error into a
// sentence.
func call[Req, Res any](ctx context.Context, c *Client, step string, bound time.Duration,
	rpc func(context.Context, *connect.Request[Req]) (*connect.Response[Res], error), req *Req) (*Res, error) {
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	res, err := rpc(bounded, connect.NewRequest(req))
	if err != nil {
		return nil, c.fromWire(ctx, step, bound, err)
	}
	return res.Msg, nil
}
