package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netdelta/internal/ctl"
)

// pause is how long after a failure a host that has gone is tried again.
const pause = time.Second

// connect opens the sessions that are missing. A host that was there before is
// waited for.
func (r *runner) connect(ctx context.Context) error {
	for begun := time.Now(); ; {
		err := r.openBoth(ctx)
		if err == nil {
			r.connected = true
			return nil
		}
		if !r.connected || !passing(err) || time.Since(begun) >= r.Patience {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// openBoth opens one session after the other, in the order of the agents'
// addresses whichever end they are: two coordinators that want the same two
// hosts alone would otherwise each hold one and wait for the other. An agent of
// this process has no address, and comes last, so that it does not idle while
// the other is waited for.
func (r *runner) openBoth(ctx context.Context) error {
	first, second := func() error { return open(ctx, r.Remote, &r.remote) }, func() error { return open(ctx, r.Local, &r.local) }
	if r.Local != nil && r.Remote != nil && r.Local.RemoteAddr().IsValid() &&
		r.Local.RemoteAddr().Compare(r.Remote.RemoteAddr()) < 0 {
		first, second = second, first
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

// passing says that waiting may help. A host may have to notice first that an
// earlier session of this run has lost its client, and is busy until then.
func passing(err error) bool {
	for _, e := range []error{ctl.ErrUnreachable, ctl.ErrNoAnswer, ctl.ErrBusy, ctl.ErrLimit, ctl.ErrClosing} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func open(ctx context.Context, c *ctl.Client, s **ctl.Session) (err error) {
	if c != nil && *s == nil {
		*s, err = c.Open(ctx)
	}
	return err
}

func (r *runner) disconnect() {
	for _, s := range []*ctl.Session{r.local, r.remote} {
		if s != nil {
			s.Close()
		}
	}
}

// release ends a failed trial at both hosts. A session that is given up although
// its host still answers has its settings put back first: the agent would do so as
// well, but there would be nobody left to be told.
func (r *runner) release(ctx context.Context, failure error) {
	// A session may have gone with a connection without having noticed yet.
	keep := !gone(failure)
	// All this must be done even if it was an interrupt that ended the trial.
	ctx = context.WithoutCancel(ctx)
	abort, cancel := context.WithTimeout(ctx, abortBound)
	defer cancel()
	end := func(s *side) func() error {
		return func() error {
			session := *s.session
			if session == nil {
				return nil
			}
			answers := session.Abort(abort) == nil
			if answers && keep {
				return nil
			}
			if answers {
				restore, cancel := context.WithTimeout(ctx, restoreBound)
				defer cancel()
				_ = r.unsetSide(restore, s, false) // what fails is still held, and told at the end
			}
			session.Close()
			*s.session = nil
			return nil
		}
	}
	both(end(&r.near), end(&r.far))
}

// gone says that an error may be a host's that has gone.
func gone(err error) bool {
	return errors.Is(err, ctl.ErrUnreachable) || errors.Is(err, ctl.ErrLost) || errors.Is(err, ctl.ErrNoAnswer)
}

// both runs two functions at once and returns their errors.
func both(a, b func() error) error {
	second := make(chan error, 1)
	go func() { second <- b() }()
	return and(a(), <-second)
}

// and joins two errors, each of which may be nil, in one line.
func and(a, b error) error {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}
