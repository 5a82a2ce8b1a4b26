package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"netdelta/internal/feature"
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
	// ErrBusy: others have the host, in a way that leaves no room beside them.
	ErrBusy = errors.New("host is in use")
	// ErrState: the step does not follow from the last one.
	ErrState = errors.New("step out of order")
	// ErrAborted: the trial was ended from elsewhere: by Abort, by the end
	// of its session or because its time was up.
	ErrAborted = errors.New("trial aborted")
	// ErrWorkerDied: the worker ended before its work did.
	ErrWorkerDied = errors.New("worker died")
	// ErrIdle: the session was held for long without a step.
	ErrIdle = errors.New("session was idle")
	// ErrClosing: the agent is shutting down.
	ErrClosing = errors.New("agent is closing")
)

// What can go wrong between client and host.
var (
	// ErrUnreachable: no connection, or one that broke.
	ErrUnreachable = errors.New("agent unreachable")
	// ErrRefused: nothing listens at the address. It is ErrUnreachable too.
	ErrRefused = fmt.Errorf("%w: connection refused", ErrUnreachable)
	// ErrNotAgent: something else than an agent answers at the address.
	ErrNotAgent = errors.New("not a netdelta agent")
	// ErrSecret: the two ends have different secrets.
	ErrSecret = errors.New("wrong secret")
	// ErrSecretWanted: this end is insecure and the agent is not.
	ErrSecretWanted = errors.New("the agent asks for a secret")
	// ErrInsecureAgent: the agent is insecure and this end is not.
	ErrInsecureAgent = errors.New("the agent runs --insecure")
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
	{ErrBusy, connect.CodeAlreadyExists},
	{ErrState, connect.CodeFailedPrecondition},
	{ErrIdle, connect.CodeOutOfRange},
	{ErrWorkerDied, connect.CodeDataLoss},
	{ErrClosing, connect.CodeUnavailable}, // it aborts trials too
	{ErrAborted, connect.CodeAborted},
	{fs.ErrPermission, connect.CodePermissionDenied},
	{feature.ErrUnavailable, connect.CodeUnknown}, // the codes that fit are taken
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
	// Kind is one of this package's errors, fs.ErrPermission,
	// feature.ErrUnavailable or a context's; nil if none fits.
	Kind error
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
	var dial *dialError
	code := connect.CodeOf(err)
	switch {
	case errors.As(err, &dial):
		e.Kind, e.Text = dial.kind, dial.text
	case code == connect.CodeDeadlineExceeded:
		e.Kind = ErrNoAnswer
		e.Text = fmt.Sprintf("no answer within %v: is the host up, and the way to it?", bound)
	case !connect.IsWireError(err):
		e.Kind = ErrUnreachable
		e.Text = c.broken(err, e.Text)
	default:
		e.Kind = kindOf(code)
	}
	return e
}

// ended is why a session's stream has, in the host's own words where it said
// any. It is of the kind that the host gave.
func (c *Client) ended(err error) error {
	var wire *connect.Error
	if !errors.As(err, &wire) {
		return err
	}
	e := &lostError{text: wire.Message()}
	if !connect.IsWireError(err) {
		e.kind, e.text = ErrUnreachable, c.broken(err, e.text)
		return e
	}
	e.kind = kindOf(wire.Code())
	return e
}

// lostError is why a session was lost.
type lostError struct {
	text string
	kind error
}

func (e *lostError) Error() string { return e.text }
func (e *lostError) Unwrap() error { return e.kind }

// kindOf is the error that a code stands for, nil if it is none of ours.
func kindOf(code connect.Code) error {
	for _, row := range codes {
		if row.code == code {
			return row.err
		}
	}
	return nil
}

// broken puts into words what became of a connection on the way of a call.
func (c *Client) broken(err error, text string) string {
	switch {
	case errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return fmt.Sprintf("the connection to the agent at %v has died (%s): is the host up, and the way to it?", c.transport, bare(err))
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("the agent at %v has closed the connection: has it ended?", c.transport)
	}
	return fmt.Sprintf("no connection to the agent at %v: %s: is it running?", c.transport, text)
}
