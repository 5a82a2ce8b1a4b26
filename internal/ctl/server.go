package ctl

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	controlv1 "netdelta/proto/controlv1"
	"netdelta/proto/controlv1/controlv1connect"
)

const (
	maxHeader   = 16 << 10
	maxClient   = 128 // bytes of a client's name
	headerBound = 10 * time.Second
	// writeBound is how long a peer may leave what is sent to it unread.
	writeBound = 10 * time.Second
)

// Handler serves a host over HTTP.
func Handler(h Host) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(controlv1connect.NewHostHandler(server{h},
		connect.WithReadMaxBytes(maxMessage),
		connect.WithCompression("gzip", nil, nil),
		connect.WithRequireConnectProtocolHeader(),
	))
	return mux
}

// Serve answers calls on the listener until ctx ends or the listener fails.
// It then closes the listener and every connection, and returns when every
// call has: nil if it was ctx that ended.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	var conns sync.WaitGroup
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerBound,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				conns.Done()
			}
		},
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	err := srv.Serve(boundedListener{l})
	srv.Close()
	conns.Wait()
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

func (c boundedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeBound)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// server is the boundary: it turns messages into a Host's terms and back.
type server struct{ host Host }

func (s server) Hello(_ context.Context, req *connect.Request[controlv1.HelloRequest]) (*connect.Response[controlv1.HelloResponse], error) {
	// Answered whatever the client speaks, so that it can name both versions.
	h := s.host.Hello()
	return connect.NewResponse(&controlv1.HelloResponse{Version: h.Version, Protocol: Protocol, Hostname: h.Hostname}), nil
}

func (s server) Open(ctx context.Context, req *connect.Request[controlv1.OpenRequest], stream *connect.ServerStream[controlv1.Event]) error {
	if p := req.Msg.GetProtocol(); p != Protocol {
		return toWire(fmt.Errorf("%w: the client speaks %d, this agent %d", ErrProtocol, p, Protocol))
	}
	client := req.Msg.GetClient()
	if len(client) > maxClient {
		return toWire(fmt.Errorf("%w: the client's name has %d bytes, at most %d", ErrInvalid, len(client), maxClient))
	}
	return toWire(s.host.Open(ctx, client, func(e Event) error {
		return stream.Send(&controlv1.Event{Session: e.Session, Heartbeat: e.Heartbeat})
	}))
}

func (s server) Prepare(ctx context.Context, req *connect.Request[controlv1.PrepareRequest]) (*connect.Response[controlv1.PrepareResponse], error) {
	cfg, err := DecodeConfig(req.Msg.GetConfig())
	if err != nil {
		return nil, toWire(fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	port, err := s.host.Prepare(ctx, req.Msg.GetSession(), cfg)
	return answer(&controlv1.PrepareResponse{Port: uint32(port)}, err)
}

func (s server) Arm(ctx context.Context, req *connect.Request[controlv1.ArmRequest]) (*connect.Response[controlv1.ArmResponse], error) {
	peer, err := ParsePeer(req.Msg.GetPeer())
	if err != nil {
		return nil, toWire(fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	return answer(&controlv1.ArmResponse{}, s.host.Arm(ctx, req.Msg.GetSession(), peer))
}

func (s server) Run(ctx context.Context, req *connect.Request[controlv1.RunRequest]) (*connect.Response[controlv1.RunResponse], error) {
	end, err := s.host.Run(ctx, req.Msg.GetSession())
	if err != nil || end == nil {
		return answer(&controlv1.RunResponse{}, err)
	}
	data, err := EncodeEnd(end)
	return answer(&controlv1.RunResponse{End: data}, err)
}

func (s server) Drain(ctx context.Context, req *connect.Request[controlv1.DrainRequest]) (*connect.Response[controlv1.DrainResponse], error) {
	end, err := s.host.Drain(ctx, req.Msg.GetSession())
	if err != nil {
		return nil, toWire(err)
	}
	data, err := EncodeEnd(end)
	return answer(&controlv1.DrainResponse{End: data}, err)
}

func (s server) Abort(ctx context.Context, req *connect.Request[controlv1.AbortRequest]) (*connect.Response[controlv1.AbortResponse], error) {
	return answer(&controlv1.AbortResponse{}, s.host.Abort(ctx, req.Msg.GetSession()))
}

func answer[T any](msg *T, err error) (*connect.Response[T], error) {
	if err != nil {
		return nil, toWire(err)
	}
	return connect.NewResponse(msg), nil
}
