package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"connectrpc.com/connect"
)

// What can go wrong at a host. Each has a code on the wire, so that a client
// can tell them apart with errors.Is.
var (
	// ErrInvalid: a request that no host could carry out.
	ErrInvalid = errors.New("invalid request")
	// ErrProtocol: the two sides speak different versions of the protocol.
	ErrProtocol = errors.New("different control protocols")
	// ErrNoSession: the session is not, or no longer, the agent's.
	ErrNoSession = errors.New("no such session")
	// ErrLimit: the agent has as many sessions as it takes.
	ErrLimit = errors.New("too many sessions")
	// ErrState: the step does not follow from the last one.
	ErrState = errors.New("step out of order")
	// ErrAborted: the trial was ended from elsewhere: by Abort, by the end
	// of its session or because its time was up.
	ErrAborted = errors.New("trial aborted")
	// ErrWorkerDied: the worker ended before its work did.
	ErrWorkerDied = errors.New("worker died")
	// ErrClosing: the agent is shutting down.
	ErrClosing = errors.New("agent is closing")
)

// What can go wrong between client and host.
var (
	// ErrUnreachable: no connection, or one that broke.
	ErrUnreachable = errors.New("agent unreachable")
	// ErrNoAnswer: the host has not answered within the step's bound.
	ErrNoAnswer = errors.New("no answer")
	// ErrLost: the session ended while it was still in use.
	ErrLost = errors.New("session lost")
)

// codes is the wire form of the host's errors, the first match wins.
var codes = []struct {
	err  error
	code connect.Code
}{
	{ErrInvalid, connect.CodeInvalidArgument},
	{ErrProtocol, connect.CodeUnimplemented},
	{ErrNoSession, connect.CodeNotFound},
	{ErrLimit, connect.CodeResourceExhausted},
	{ErrState, connect.CodeFailedPrecondition},
	{ErrWorkerDied, connect.CodeDataLoss},
	{ErrAborted, connect.CodeAborted},
	{ErrClosing, connect.CodeUnavailable},
	{fs.ErrPermission, connect.CodePermissionDenied},
	{context.Canceled, connect.CodeCanceled},
	{context.DeadlineExceeded, connect.CodeDeadlineExceeded},
}

// toWire gives a host's error its code; one of no kind is internal.
func toWire(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return connect.NewError(c.code, err)
		}
	}
	return connect.NewError(connect.CodeInternal, err)
}

// Error is a step that failed, as the client sees it.
type Error struct {
	Host string // the host's name, as given to Dial
	Step string // "prepare", "run" and so on
	Text string // what happened
	Kind error  // one of this package's errors, fs.ErrPermission or a context's; nil if none fits
}

// Error is a sentence: the host, the step and what happened.
func (e *Error) Error() string { return fmt.Sprintf("host %s: %s: %s", e.Host, e.Step, e.Text) }

// Unwrap returns the kind of error.
func (e *Error) Unwrap() error { return e.Kind }

// fromWire turns what a call returned into a sentence. ctx is the caller's,
// without the step's own bound.
func (c *Client) fromWire(ctx context.Context, step string, bound time.Duration, err error) error {
	e := &Error{Host: c.host, Step: step}
	if cause := context.Cause(ctx); cause != nil {
		e.Kind, e.Text = cause, cause.Error()
		return e
	}
	e.Text = err.Error()
	var wire *connect.Error
	if errors.As(err, &wire) {
		e.Text = wire.Message()
	}
	code := connect.CodeOf(err)
	switch {
	case code == connect.CodeDeadlineExceeded:
		e.Kind = ErrNoAnswer
		e.Text = fmt.Sprintf("no answer within %v: is the host up, and the way to it?", bound)
	case !connect.IsWireError(err):
		e.Kind = ErrUnreachable
		e.Text = fmt.Sprintf("no connection to the agent at %v: %s: is it running?", c.transport, e.Text)
	default:
		for _, row := range codes {
			if row.code == code {
				e.Kind = row.err
				break
			}
		}
	}
	return e
}
