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
	// length is the prepared trial's warm-up and window, bound its worker's
	// address.
	length time.Duration
	bound  netip.AddrPort
	// setting is how long the restoring of what Set has made may take.
	setting time.Duration
}

// errClosed is the cause of a session that its own client closed.
var errClosed = errors.New("the session was closed")

// Open holds a session until Close. ctx bounds only the opening, which lasts
// as long as Options say where others have the host.
func (c *Client) Open(ctx context.Context) (*Session, error) {
	s := &Session{c: c, done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	bound := c.opts.Bound + c.opts.Wait
	opening, cancel := context.WithTimeout(ctx, bound)
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
	return nil, c.fromWire(ctx, "open", bound, err)
}

// follow reads the session's stream to its end. It tells first when the
// session has its name, or why it has none.
func (s *Session) follow(first chan<- error) {
	defer close(s.done)
	o := &s.c.opts
	stream, err := s.c.rpc.Open(s.ctx, connect.NewRequest(&controlv1.OpenRequest{
		Client:    o.Client,
		Version:   o.Version,
		Protocol:  s.c.hello.Protocol,
		Exclusive: o.Exclusive,
		WaitMs:    milliseconds(o.Wait),
	}))
	if err != nil {
		s.cancel(err)
		first <- err
		return
	}
	defer stream.Close()
	if err := s.await(stream); err != nil {
		s.cancel(err)
		first <- err
		return
	}
	first <- nil
	for stream.Receive() {
		// Of heartbeats the arrival is all that there is to them.
		if i := stream.Msg().GetInterval(); len(i) > 0 && o.Interval != nil {
			o.Interval(i)
		}
	}
	if err := stream.Err(); err != nil {
		s.cancel(fmt.Errorf("%w: %w", ErrLost, s.c.ended(err)))
		return
	}
	s.cancel(fmt.Errorf("%w: the agent ended it", ErrLost))
}

// await reads the stream until the session has its name.
func (s *Session) await(stream *connect.ServerStreamForClient[controlv1.Event]) error {
	for stream.Receive() {
		m := stream.Msg()
		if s.id = m.GetSession(); s.id != "" {
			return nil
		}
		if b := m.GetBusy(); b != nil && s.c.opts.Waiting != nil {
			s.c.opts.Waiting(Busy{Reason: b.GetReason(), Holder: b.GetHolder(), Since: time.UnixMilli(b.GetSinceUnixMs())})
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return errors.New("the agent ended the stream at once")
}

// milliseconds is a time as the protocol has it; what is shorter than one is
// one.
func milliseconds(d time.Duration) uint32 {
	ms := (d + time.Millisecond - 1) / time.Millisecond
	return uint32(min(max(ms, 0), math.MaxUint32))
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
	data, err := EncodeConfig(forProtocol(s.c.hello.Protocol, cfg))
	if err != nil {
		return 0, s.fail("prepare", err)
	}
	res, err := step(ctx, s, "prepare", s.c.opts.Bound, s.c.rpc.Prepare, &controlv1.PrepareRequest{Session: s.id, Config: data})
	if err != nil {
		return 0, s.c.older(err)
	}
	port := res.GetPort()
	at, err := netip.ParseAddr(res.GetAddress())
	if port > math.MaxUint16 || err != nil || at.IsUnspecified() {
		return 0, s.fail("prepare", fmt.Errorf("the agent answered that its worker has address %q and port %d", res.GetAddress(), port))
	}
	s.length = cfg.Warmup + cfg.Window
	s.bound = netip.AddrPortFrom(at, uint16(port))
	return uint16(port), nil
}

// Bound is the address and port of the worker that the last Prepare started.
// It is what the far end is armed with, and differs from what was asked for
// where cfg.Addr left the choice to the agent.
func (s *Session) Bound() netip.AddrPort { return s.bound }

// Arm tells the worker its peer's address and port and connects it.
func (s *Session) Arm(ctx context.Context, peer netip.AddrPort) error {
	_, err := step(ctx, s, "arm", s.c.opts.Bound, s.c.rpc.Arm, &controlv1.ArmRequest{Session: s.id, Peer: peer.String()})
	return err
}

// Run starts the traffic. At a local end it returns the figures when the
// window is over, and has the warm-up, the window and the step's bound to do
// so; at a remote end it returns nil at once.
func (s *Session) Run(ctx context.Context) (*result.End, error) {
	s.c.pool.expect(s.length)
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
	if s.ctx.Err() != nil {
		// Not left to AfterFunc's goroutine: the call could fail before it runs,
		// and its error tell less than the session's own.
		cancel(context.Cause(s.ctx))
	}
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	return call(held, s.c, name, bound, rpc, req)
}
