// Package worker is the measured process: a fresh re-execution of the running
// binary for one end of one trial. The agent that starts it talks to it over a
// socket pair, only before and after the window; if it is asked to, the worker
// tells of each interval meanwhile. When the agent's end of that closes,
// however the agent died, the worker ends at once.
//
// The traffic thread is bound to its CPU and its memory is locked; the garbage
// collector and preemption signals are off from the start of the process.
package worker

import (
	"errors"
	"fmt"
	"io/fs"

	"netdelta/internal/feature"
)

// ErrDied is wrapped by errors of calls to a worker whose process has ended.
var ErrDied = errors.New("worker died")

// WarnMlock is the code of the warning that the worker's memory could not be
// locked, so that it may be paged out during a window.
const WarnMlock = "mlock"

// Kind says what sort of thing went wrong in a worker.
type Kind string

const (
	// KindInvalid: a configuration or a command that no worker can carry out.
	KindInvalid Kind = "invalid"
	// KindPermission: the user lacks a privilege.
	KindPermission Kind = "permission"
	// KindUnavailable: this system has not what the test asks for.
	KindUnavailable Kind = "unavailable"
	// KindFailed: the system did not do it.
	KindFailed Kind = "failed"
)

// Error is an error that a worker reported. errors.Is(err, fs.ErrPermission)
// tells that a privilege is missing,
// and errors.Is(err, feature.ErrUnavailable) that the system has no such thing.
type Error struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// Error returns what happened, as the worker put it.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the error that the kind stands for, if there is one.
func (e *Error) Unwrap() error {
	switch e.Kind {
	case KindPermission:
		return fs.ErrPermission
	case KindUnavailable:
		return feature.ErrUnavailable
	}
	return nil
}

// errInvalid marks errors of KindInvalid within the worker.
var errInvalid = errors.New("invalid")

// report is an error as it goes to the agent; nil stays nil.
func report(err error) *Error {
	if err == nil {
		return nil
	}
	kind := KindFailed
	switch {
	case errors.Is(err, errInvalid):
		kind = KindInvalid
	case errors.Is(err, feature.ErrUnavailable), errors.Is(err, errors.ErrUnsupported):
		kind = KindUnavailable
	case errors.Is(err, fs.ErrPermission):
		kind = KindPermission
	}
	return &Error{kind, err.Error()}
}

// diedError is a worker that ended before its work did.
type diedError struct {
	pid    int
	status string // "signal: killed"
	words  string // the end of its standard error
}

func (e *diedError) Error() string {
	text := fmt.Sprintf("worker %d died: %s", e.pid, e.status)
	if e.words != "" {
		text += "; its last words: " + e.words
	}
	return text
}

func (e *diedError) Unwrap() error { return ErrDied }
