package ctl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"connectrpc.com/connect"

	"netdelta/internal/result"
	"netdelta/internal/traffic"
	controlv1 "netdelta/proto/controlv1"
)

// Session is a client's hold on a host. The agent frees all that belongs to
// it when the session's stream ends: by Close, or by the client's death.
//
// The steps of a trial are called one after the other; Abort and Close can
// be called from another goroutine meanwhile.
type Session struct {
	c  *Client
	id string
	// ctx lives as long as the stream; its cause says why it ended.
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	// length is the prepared trial's warm-up and window.
	length time.Duration
}

// errClosed is the cause of a session that its own client closed.
var errClosed = errors.New("the session was closed")

// Open holds a session until Close. ctx bounds only the opening.
func (c *Client) Open(ctx context.Context) (*Session, error) {
	s := &Session{c: c, done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	opening, cancel := context.WithTimeout(ctx, c.opts.Bound)
	defer cancel()
	opened := context.AfterFunc(opening, func() { s.cancel(context.Cause(opening)) })

	first := make(chan error, 1)
	go s.follow(first)
	err := <-first
	if err == nil && !opened() {
		err = context.Cause(opening)
	}
	if err == nil {
		return s, nil
	}
	s.cancel(errClosed)
	<-s.done
	if ctx.Err() == nil && opening.Err() != nil {
		err = connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return nil, c.fromWire(ctx, "open", c.opts.Bound, err)
}

// follow reads the session's stream to its end. It tells first when the
// session has its name, or why it has none.
func (s *Session) follow(first chan<- error) {
	defer close(s.done)
	stream, err := s.c.rpc.Open(s.ctx, connect.NewRequest(&controlv1.OpenRequest{Client: s.c.opts.Client, Protocol: Protocol}))
	if err != nil {
		s.cancel(err)
		first <- err
		return
	}
	defer stream.Close()
	if !stream.Receive() {
		err := stream.Err()
		if err == nil {
			err = errors.New("the agent ended the stream at once")
		}
		s.cancel(err)
		first <- err
		return
	}
	s.id = stream.Msg().GetSession()
	first <- nil
	for stream.Receive() {
		// Heartbeats: their arrival is all that there is to them.
	}
	if err := stream.Err(); err != nil {
		s.cancel(fmt.Errorf("%w: %w", ErrLost, err))
		return
	}
	s.cancel(fmt.Errorf("%w: the agent ended it", ErrLost))
}

// Done is closed when the session has ended, for whatever reason.
func (s *Session) Done() <-chan struct{} { return s.done }

// Close ends the session and waits until its stream is closed. The agent
// frees what the session held.
func (s *Session) Close() {
	s.cancel(errClosed)
	<-s.done
}

// Prepare starts a worker for one end of a trial, and tells the port that it
// has bound; 0 where the test has none.
func (s *Session) Prepare(ctx context.Context, cfg traffic.Config) (uint16, error) {
	data, err := EncodeConfig(cfg)
	if err != nil {
		return 0, s.fail("prepare", err)
	}
	res, err := step(ctx, s, "prepare", s.c.opts.Bound, s.c.rpc.Prepare, &controlv1.PrepareRequest{Session: s.id, Config: data})
	if err != nil {
		return 0, err
	}
	port := res.GetPort()
	if port > math.MaxUint16 {
		return 0, s.fail("prepare", fmt.Errorf("the agent answered with port %d", port))
	}
	s.length = cfg.Warmup + cfg.Window
	return uint16(port), nil
}

// Arm tells the worker its peer's address and port and connects it.
func (s *Session) Arm(ctx context.Context, peer netip.AddrPort) error {
	_, err := step(ctx, s, "arm", s.c.opts.Bound, s.c.rpc.Arm, &controlv1.ArmRequest{Session: s.id, Peer: peer.String()})
	return err
}

// Run starts the traffic. At a local end it returns the figures when the
// window is over, and has the warm-up, the window and the step's bound to do
// so; at a remote end it returns nil at once.
func (s *Session) Run(ctx context.Context) (*result.End, error) {
	res, err := step(ctx, s, "run", s.length+s.c.opts.Bound, s.c.rpc.Run, &controlv1.RunRequest{Session: s.id})
	if err != nil || len(res.GetEnd()) == 0 {
		return nil, err
	}
	return s.figures("run", res.GetEnd())
}

// Drain tells a remote end that the sender has finished and returns the
// figures when what was under way has come in.
func (s *Session) Drain(ctx context.Context) (*result.End, error) {
	res, err := step(ctx, s, "drain", s.c.opts.Bound, s.c.rpc.Drain, &controlv1.DrainRequest{Session: s.id})
	if err != nil {
		return nil, err
	}
	return s.figures("drain", res.GetEnd())
}

// Abort ends the trial under way, in whatever state it is, and returns when
// its worker has ended.
func (s *Session) Abort(ctx context.Context) error {
	_, err := step(ctx, s, "abort", s.c.opts.Bound, s.c.rpc.Abort, &controlv1.AbortRequest{Session: s.id})
	return err
}

func (s *Session) figures(step string, data []byte) (*result.End, error) {
	end, err := DecodeEnd(data)
	if err != nil {
		return nil, s.fail(step, err)
	}
	return end, nil
}

func (s *Session) fail(step string, err error) error {
	return &Error{Host: s.c.host, Step: step, Text: err.Error(), Kind: err}
}

// step makes one call of a session, and gives it up when the session ends.
func step[Req, Res any](ctx context.Context, s *Session, name string, bound time.Duration,
	rpc func(context.Context, *connect.Request[Req]) (*connect.Response[Res], error), req *Req) (*Res, error) {
	held, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	return call(held, s.c, name, bound, rpc, req)
}
