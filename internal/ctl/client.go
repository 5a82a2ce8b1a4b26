package ctl

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

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
}

// Dial reaches the agent of the host, whose name is only used in messages,
// and checks that it speaks the same protocol.
func Dial(ctx context.Context, host string, t Transport, o Options) (*Client, error) {
	if o.Bound == 0 {
		o.Bound = StepBound
	}
	hc := &http.Client{
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return t.Dial(ctx) },
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c := &Client{
		host:      host,
		transport: t,
		opts:      o,
		http:      hc,
		// The transport knows the address; HTTP only wants a name.
		rpc: controlv1connect.NewHostClient(hc, "http://agent",
			connect.WithReadMaxBytes(maxMessage),
			connect.WithAcceptCompression("gzip", nil, nil)),
	}
	res, err := call(ctx, c, "hello", o.Bound, c.rpc.Hello, &controlv1.HelloRequest{Version: o.Version, Protocol: Protocol})
	if err != nil {
		c.Close()
		return nil, err
	}
	c.hello = Hello{Version: res.GetVersion(), Protocol: res.GetProtocol(), Hostname: res.GetHostname()}
	if c.hello.Protocol != Protocol {
		c.Close()
		return nil, &Error{Host: host, Step: "hello", Kind: ErrProtocol,
			Text: fmt.Sprintf("the agent (version %s) speaks control protocol %d, this program (version %s) %d: install the same version at both ends",
				c.hello.Version, c.hello.Protocol, o.Version, Protocol)}
	}
	return c, nil
}

// Host is the name that was given to Dial.
func (c *Client) Host() string { return c.host }

// Hello is how the agent introduced itself.
func (c *Client) Hello() Hello { return c.hello }

// Close gives up idle connections. Sessions are closed one by one before.
func (c *Client) Close() { c.http.CloseIdleConnections() }

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
