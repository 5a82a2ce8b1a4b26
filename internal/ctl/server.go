package ctl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

const (
	maxHeader   = 16 << 10
	maxName     = 128 // bytes of a client's name, and of its version
	headerBound = 10 * time.Second
	bodyBound   = 10 * time.Second
	// writeBound is how long a peer may leave what is sent to it unread.
	writeBound = 10 * time.Second
	// lastWords is how long calls that end when the server does may take to
	// tell their clients.
	lastWords = time.Second
)

// Handler serves a host over HTTP.
func Handler(h Host) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(controlv1connect.NewHostHandler(&server{host: h},
		connect.WithReadMaxBytes(maxRequest),
		connect.WithCompression("gzip", nil, nil),
		connect.WithRequireConnectProtocolHeader(),
	))
	return mux
}

// bounded reads a request's whole body before the call begins, within a time,
// so that a slow sender holds no more than its connection, and that only for
// that long.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit := http.NewResponseController(w)
		if err := limit.SetReadDeadline(time.Now().Add(bodyBound)); err != nil {
			http.Error(w, "no deadline can be set", http.StatusInternalServerError)
			return
		}
		// A body that is longer is left for the call to refuse.
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
		if err != nil {
			http.Error(w, "the request did not come to its end", http.StatusBadRequest)
			return
		}
		if len(body) <= maxRequest {
			// From here on only the client's death ends its calls.
			if err := limit.SetReadDeadline(time.Time{}); err != nil {
				return
			}
		}
		r.Body = rest{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		next.ServeHTTP(w, r)
	})
}

// rest is a request's body, part of which has been read.
type rest struct {
	io.Reader
	io.Closer
}

// Serve answers calls on the listener until ctx ends or the listener fails.
// It then lets answers under way out, closes the listener and every
// connection, and returns when every call has: nil if it was ctx that ended.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	conns := newConns()
	srv := &http.Server{
		Handler:           bounded(conns.following(h)),
		ReadHeaderTimeout: headerBound,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       conns.remember,
		ConnState:         conns.note,
	}
	stop := context.AfterFunc(ctx, func() {
		l.Close()
		conns.quiet(lastWords)
		srv.Close()
	})
	defer stop()
	err := srv.Serve(boundedListener{l})
	if ctx.Err() == nil {
		srv.Close()
	}
	conns.gone()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve the control protocol on %v: %w", l.Addr(), err)
}

// boundedListener's connections fail when their peer does not read what is
// sent, so that a stopped client frees its session as a dead one does.
type boundedListener struct{ net.Listener }

func (l boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return boundedConn{c}, nil
}

type boundedConn struct{ net.Conn }

func (c boundedConn) expect(length time.Duration) {
	if e, ok := c.Conn.(expecting); ok {
		e.expect(length)
	}
}

func (c boundedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeBound)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// server is the boundary: it turns messages into a Host's terms and back.
type server struct {
	host Host
	held sync.Map // of *holding, by the session's name
}

// holding is what the server knows of a session.
type holding struct {
	protocol uint32 // the version that its client speaks
	pool     pool
	length   atomic.Int64 // of the prepared trial, in ns
}

// holding finds a session, and adds the call's connection to its. A session
// that is not known is the host's to refuse.
func (s *server) holding(ctx context.Context, session string) *holding {
	v, ok := s.held.Load(session)
	if !ok {
		return new(holding)
	}
	h := v.(*holding)
	if c := connOf(ctx); c != nil {
		h.pool.add(c)
	}
	return h
}

// connOf is the connection on which a call came, nil if it is not known.
func connOf(ctx context.Context) net.Conn {
	c, _ := ctx.Value(connKey{}).(net.Conn)
	return c
}

func (s *server) Hello(context.Context, *connect.Request[controlv1.HelloRequest]) (*connect.Response[controlv1.HelloResponse], error) {
	// Answered whatever the client speaks, so that it can name both versions.
	h := s.host.Hello()
	return connect.NewResponse(&controlv1.HelloResponse{Version: h.Version, Protocol: ours.newest, MinProtocol: ours.oldest, Hostname: h.Hostname}), nil
}

func (s *server) Environment(ctx context.Context, _ *connect.Request[controlv1.EnvironmentRequest]) (*connect.Response[controlv1.EnvironmentResponse], error) {
	facts, err := s.host.Environment(ctx)
	if err != nil {
		return nil, toWire(err)
	}
	data, err := encodeFacts(facts)
	return answer(&controlv1.EnvironmentResponse{Facts: data}, err)
}

func (s *server) Open(ctx context.Context, req *connect.Request[controlv1.OpenRequest], stream *connect.ServerStream[controlv1.Event]) error {
	m := req.Msg
	if p := m.GetProtocol(); !ours.has(p) {
		return toWire(fmt.Errorf("%w: the client (%s) speaks %d, this agent (%s) %v: install the same version at both ends",
			ErrProtocol, release(m.GetVersion()), p, release(s.host.Hello().Version), ours))
	}
	for _, name := range []string{m.GetClient(), m.GetVersion()} {
		if len(name) > maxName {
			return toWire(fmt.Errorf("%w: a name of the client's has %d bytes, at most %d", ErrInvalid, len(name), maxName))
		}
	}
	hold := Hold{
		Client:    m.GetClient(),
		Version:   m.GetVersion(),
		From:      req.Peer().Addr,
		Exclusive: m.GetExclusive(),
		Wait:      time.Duration(m.GetWaitMs()) * time.Millisecond,
	}
	var session string
	defer func() { s.held.Delete(session) }()
	return toWire(s.host.Open(ctx, hold, func(e Event) error {
		if e.Session != "" && session == "" {
			session = e.Session
			h := &holding{protocol: m.GetProtocol()}
			if c := connOf(ctx); c != nil {
				h.pool.add(c)
			}
			s.held.Store(session, h)
		}
		msg := &controlv1.Event{Session: e.Session, Heartbeat: e.Heartbeat, Interval: e.Interval}
		if b := e.Busy; b != nil {
			msg.Busy = &controlv1.Busy{Reason: b.Reason, Holder: b.Holder, SinceUnixMs: b.Since.UnixMilli()}
		}
		return stream.Send(msg)
	}))
}

func (s *server) Prepare(ctx context.Context, req *connect.Request[controlv1.PrepareRequest]) (*connect.Response[controlv1.PrepareResponse], error) {
	cfg, err := DecodeConfig(req.Msg.GetConfig())
	if err != nil {
		return nil, toWire(fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	at, err := s.host.Prepare(ctx, req.Msg.GetSession(), cfg)
	if err != nil {
		return nil, toWire(err)
	}
	s.holding(ctx, req.Msg.GetSession()).length.Store(int64(cfg.Warmup + cfg.Window))
	return answer(&controlv1.PrepareResponse{Port: uint32(at.Port()), Address: at.Addr().String()}, nil)
}

func (s *server) Arm(ctx context.Context, req *connect.Request[controlv1.ArmRequest]) (*connect.Response[controlv1.ArmResponse], error) {
	peer, err := ParsePeer(req.Msg.GetPeer())
	if err != nil {
		return nil, toWire(fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	return answer(&controlv1.ArmResponse{}, s.host.Arm(ctx, req.Msg.GetSession(), peer))
}

func (s *server) Run(ctx context.Context, req *connect.Request[controlv1.RunRequest]) (*connect.Response[controlv1.RunResponse], error) {
	h := s.holding(ctx, req.Msg.GetSession())
	h.pool.expect(time.Duration(h.length.Load()))
	end, err := s.host.Run(ctx, req.Msg.GetSession())
	if err != nil || end == nil {
		return answer(&controlv1.RunResponse{}, err)
	}
	data, err := EncodeEnd(figuresFor(h.protocol, end))
	return answer(&controlv1.RunResponse{End: data}, err)
}

func (s *server) Drain(ctx context.Context, req *connect.Request[controlv1.DrainRequest]) (*connect.Response[controlv1.DrainResponse], error) {
	end, err := s.host.Drain(ctx, req.Msg.GetSession())
	if err != nil {
		return nil, toWire(err)
	}
	data, err := EncodeEnd(figuresFor(s.holding(ctx, req.Msg.GetSession()).protocol, end))
	return answer(&controlv1.DrainResponse{End: data}, err)
}

func (s *server) Abort(ctx context.Context, req *connect.Request[controlv1.AbortRequest]) (*connect.Response[controlv1.AbortResponse], error) {
	return answer(&controlv1.AbortResponse{}, s.host.Abort(ctx, req.Msg.GetSession()))
}

func answer[T any](msg *T, err error) (*connect.Response[T], error) {
	if err != nil {
		return nil, toWire(err)
	}
	return connect.NewResponse(msg), nil
}
