package store

import (
	"errors"
	"fmt"
	"strings"
)

// What can be wrong, for errors.Is.
var (
	ErrNotFound  = errors.New("no such run")
	ErrAmbiguous = errors.New("more than one run")
	ErrExists    = errors.New("a run with this id is kept already")
	ErrFinished  = errors.New("the run is finished")
	ErrRunning   = errors.New("the run is still being measured")
	ErrBaseline  = errors.New("the run is a baseline")

	ErrMissing  = errors.New("there is no store")
	ErrNotStore = errors.New("this is no store")
	ErrNewer    = errors.New("written by a newer netdelta")
	ErrCorrupt  = errors.New("damaged")
	ErrReadOnly = errors.New("can't be written")
	ErrFull     = errors.New("no space left")
	ErrBusy     = errors.New("locked by another process")
	ErrDisk     = errors.New("the disk or file system failed")
	ErrClosed   = errors.New("the store is closed")
)

// Error is what went wrong with a store: what was tried on what, which of
// this package's errors it is, and what can be done.
type Error struct {
	Store  string // the path
	Op     string // what was tried, as in "append to run 7f3"
	Kind   error  // one of this package's
	Advice string // may be empty
	Cause  error  // what the layer below said; may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "store %s: %s: ", e.Store, e.Op)
	switch {
	case e.Cause == nil:
		b.WriteString(e.Kind.Error())
	case errors.Is(e.Cause, e.Kind):
		b.WriteString(e.Cause.Error()) // names the kind itself
	default:
		fmt.Fprintf(&b, "%v (%v)", e.Kind, e.Cause)
	}
	if e.Advice != "" {
		fmt.Fprintf(&b, ": %s", e.Advice)
	}
	return b.String()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// NotFoundError is an ErrNotFound with the labels that may have been meant.
type NotFoundError struct {
	Ref  string
	Near []string // labels, nearest first; may be empty
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("%v: none has the id or label %q", ErrNotFound, e.Ref)
	if len(e.Near) == 0 {
		return text + ": netdelta runs lists what is kept"
	}
	return text + ": near to it are " + quoted(e.Near)
}

// Is makes it an ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// NoBaselineError is an ErrNotFound for the name of a baseline.
type NoBaselineError struct {
	Name string
	Near []string // names of baselines, nearest first; may be empty
}

func (e *NoBaselineError) Error() string {
	text := fmt.Sprintf("%v: no baseline is called %q", ErrNotFound, e.Name)
	if len(e.Near) == 0 {
		return text + ": netdelta baseline lists those that are kept"
	}
	return text + ": near to it are " + quoted(e.Near)
}

// Is makes it an ErrNotFound.
func (e *NoBaselineError) Is(target error) bool { return target == ErrNotFound }

// AmbiguousError is an ErrAmbiguous with some of the ids that fit.
type AmbiguousError struct {
	Ref string
	IDs []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%v begins with %q: %s: give more of the id", ErrAmbiguous, e.Ref, strings.Join(e.IDs, ", "))
}

// Is makes it an ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(q, ", ")
}
