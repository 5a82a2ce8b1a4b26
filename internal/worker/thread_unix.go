//go:build linux || darwin || freebsd

package worker

import (
	"errors"
	"runtime"

	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// thread is the one that carries the traffic: it does all that its engine does
// to sockets.
type thread struct {
	jobs chan func()
}

// startThread starts the first traffic thread, with the process's memory
// locked. A refusal to lock is a warning.
func startThread(cfg *traffic.Config) (*thread, []result.Warning, error) {
	t := &thread{jobs: make(chan func())}
	pinned := make(chan error)
	var warnings []result.Warning
	go func() {
		sys.NameThread(sys.ThreadTraffic)
		err := traffic.BindThread(cfg, 0)
		if err == nil {
			if locked := sys.LockMemory(); locked != nil {
				advice := "raise the limit (ulimit -l) or give CAP_IPC_LOCK"
				if errors.Is(locked, errors.ErrUnsupported) {
					advice = "keep enough memory free on that host"
				}
				warnings = []result.Warning{{
					Code:   WarnMlock,
					Text:   "the worker's memory is not locked and could be paged out: " + locked.Error(),
					Advice: advice,
				}}
			}
		}
		pinned <- err
		if err != nil {
			return
		}
		for job := range t.jobs {
			job()
		}
	}()
	if err := <-pinned; err != nil {
		return nil, nil, err
	}
	return t, warnings, nil
}

// do runs a job on the thread and waits for it.
func (t *thread) do(job func() error) error {
	done := make(chan error, 1)
	t.jobs <- func() { done <- job() }
	return <-done
}

// outcome is what became of an engine's run.
type outcome struct {
	end result.End
	err error
}

// run starts an engine's run on the thread. What earlier steps left behind is
// collected first; in the window nothing is.
func (t *thread) run(engine func() (result.End, error)) <-chan outcome {
	done := make(chan outcome, 1)
	t.jobs <- func() {
		runtime.GC()
		end, err := engine()
		done <- outcome{end, err}
	}
	return done
}
