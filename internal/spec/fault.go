package spec

import (
	"errors"
	"fmt"
)

// fault is an error of a plan that knows which part of it is wrong, in the words
// of a plan file, outermost first: "factors", "gro", "levels", "on". Where the
// plan came from a file, that leads to the line.
type fault struct {
	path []string
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// faultAt is an error at a part of a plan.
func faultAt(path []string, format string, args ...any) error {
	return &fault{path, fmt.Errorf(format, args...)}
}

// within puts what an error is about in front of its text, and of where it is.
func within(err error, path ...string) error {
	if err == nil {
		return nil
	}
	var inner *fault
	if errors.As(err, &inner) {
		return &fault{append(path, inner.path...), err}
	}
	return &fault{path, err}
}

func at(path ...string) []string { return path }

// prefixed puts what an error is about in front of its text.
func prefixed(what string, err error) error { return fmt.Errorf("%s: %w", what, err) }
