package agent

import (
	"errors"
	"os"

	"netdelta/internal/ctl"
	"netdelta/internal/sys"
	"netdelta/internal/worker"
)

// processIn returns what starts a worker process in the namespace and the control
// group.
func processIn(ns *sys.NetNS, group *os.File) func() (Worker, error) {
	return func() (Worker, error) {
		w, err := worker.StartIn(ns, group)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

// translated is a worker's error in the protocol's terms, in its own words.
func translated(err error) error {
	if errors.Is(err, worker.ErrDied) {
		return died{err}
	}
	return err
}

// died is a worker that ended before its work did.
type died struct{ error }

func (d died) Unwrap() []error { return []error{ctl.ErrWorkerDied, d.error} }
