//go:build !linux

package counters

import "errors"

func openThreads(*Options) (source, error) {
	return nil, unavailable("threads of a process are told of by Linux's /proc")
}

// threadFigures are Linux's to tell.
type threadFigures struct{}

func ownFigures(int) (threadFigures, error) { return threadFigures{}, errors.ErrUnsupported }
