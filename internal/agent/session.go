package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// Worker is the process that carries one end of one trial. Its methods return
// soon after their context has ended, and Close ends it in any state.
type Worker interface {
	Prepare(context.Context, traffic.Config) (port uint16, err error)
	Arm(context.Context, netip.AddrPort) error
	Run(context.Context) (*result.End, error)
	Drain(context.Context) (*result.End, error)
	Close() error
}

// Reporter is a Worker that tells of its trial while that runs.
type Reporter interface {
	// Report has tell called with the figures of each interval, as JSON, from
	// the run's start to its end. tell returns at once.
	Report(tell func(interval []byte))
}

// Limits of what a worker tells while it runs.
const (
	maxInterval  = 64 << 10 // bytes of one interval's figures
	maxIntervals = 16       // that wait to be sent
)

// session is one client's hold on the host: one trial at a time, one step of
// it at a time.
type session struct {
	id     string // known to the client only
	number int    // for messages
	hold   ctl.Hold
	opened time.Time
	start  func() (Worker, error)
	keep   func(who string) Keeper
	grace  time.Duration
	// alone says that no other session is let in beside this one, since it has
	// changed settings. The agent's lock guards it.
	alone bool
	// intervals are on their way to the client.
	intervals chan []byte

	mu    sync.Mutex
	state state
	ended bool
	step  *step     // the one under way; nil between steps
	acted time.Time // when the last step ended; zero before the first
	// trial counts prepared trials, so that a deadline can't hit a later one.
	trial    uint64
	deadline *time.Timer
	last     error // why the last trial ended, if it went wrong

	// worker and cfg belong to the step under way, whoever carries it out, and so
	// do keeper, which is nil while nothing is set, and what it has made.
	worker Worker
	cfg    traffic.Config
	keeper Keeper
	made   []result.Change
}

// step is one event being carried out. Nothing else happens to the session
// meanwhile, but it can be cancelled.
type step struct {
	event  event
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func (s *session) prepare(ctx context.Context, cfg traffic.Config) (port uint16, err error) {
	err = s.carryOut(ctx, prepare, func(ctx context.Context) (event, error) {
		w, err := s.start()
		if err != nil {
			return nothing, err
		}
		s.worker, s.cfg = w, cfg
		if r, ok := w.(Reporter); ok {
			r.Report(s.interval)
		}
		port, err = w.Prepare(ctx, cfg)
		return nothing, err
	})
	return port, err
}

func (s *session) arm(ctx context.Context, peer netip.AddrPort) error {
	return s.carryOut(ctx, arm, func(ctx context.Context) (event, error) {
		return nothing, s.worker.Arm(ctx, peer)
	})
}

func (s *session) run(ctx context.Context) (end *result.End, err error) {
	err = s.carryOut(ctx, run, func(ctx context.Context) (event, error) {
		e, err := s.worker.Run(ctx)
		if err != nil || s.cfg.Role == result.Remote {
			return nothing, err
		}
		end = e
		return finished, present(e)
	})
	return end, err
}

func (s *session) drain(ctx context.Context) (end *result.End, err error) {
	err = s.carryOut(ctx, drain, func(ctx context.Context) (event, error) {
		e, err := s.worker.Drain(ctx)
		if err != nil {
			return nothing, err
		}
		end = e
		return drained, present(e)
	})
	return end, err
}

// present guards against a worker that answers without figures.
func present(end *result.End) error {
	if end == nil {
		return errors.New("the worker answered without figures")
	}
	return nil
}

// carryOut moves the session by one event and does its work, which may tell a
// second event that follows at once. An error of the work ends the trial.
func (s *session) carryOut(ctx context.Context, e event, work func(context.Context) (event, error)) error {
	s.mu.Lock()
	ctx, err := s.begin(ctx, e)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	then, err := work(ctx)
	if err != nil {
		then = fail
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		err = translated(err)
	}
	return s.finish(then, err)
}

// begin checks that the event may happen now and enters it. The caller holds
// mu.
func (s *session) begin(ctx context.Context, e event) (context.Context, error) {
	if s.ended {
		return nil, ctl.ErrNoSession
	}
	if s.step != nil {
		return nil, fmt.Errorf("%w: %v came while %v is under way", ctl.ErrState, e, s.step.event)
	}
	to, err := next(s.state, e)
	if err != nil {
		if s.last != nil {
			err = fmt.Errorf("%w (the last trial failed: %v)", err, s.last)
		}
		return nil, err
	}
	return s.enter(ctx, e, to), nil
}

// enter makes the event the step under way. The caller holds mu, no step is
// under way, and it calls finish.
func (s *session) enter(ctx context.Context, e event, to state) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	s.step = &step{event: e, cancel: cancel, done: make(chan struct{})}
	s.state = to
	switch e {
	case prepare:
		s.trial++
		s.last = nil
	case run:
		trial, limit := s.trial, s.cfg.Warmup+s.cfg.Window+s.grace
		s.deadline = time.AfterFunc(limit, func() { s.overdue(trial, limit) })
	}
	return ctx
}

// finish ends the step under way, with the event that follows it if there is
// one. Where that leads to idle, the worker is ended first.
func (s *session) finish(then event, err error) error {
	s.mu.Lock()
	to := s.state
	if then != nothing {
		var order error
		if to, order = next(s.state, then); order != nil {
			to, err = idle, errors.Join(err, order)
		}
	}
	s.mu.Unlock()

	if to == idle && s.worker != nil {
		closing := s.worker.Close()
		s.worker = nil
		if closing != nil {
			err = errors.Join(err, fmt.Errorf("end the worker: %w", closing))
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = to
	if to == idle && s.deadline != nil {
		s.deadline.Stop()
		s.deadline = nil
	}
	if e := s.step.event; err != nil && e != set && e != unset {
		s.last = err
	}
	s.step.cancel(nil)
	close(s.step.done)
	s.step = nil
	s.acted = time.Now()
	return err
}

// abort ends the trial under way for the given reason, and returns when its
// worker has ended.
func (s *session) abort(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acted = time.Now() // be there a trial or not
	s.abortLocked(why)
}

// abortLocked is abort for a caller that holds mu, and holds it again at the
// end but not meanwhile.
func (s *session) abortLocked(why error) {
	for s.step != nil {
		under := s.step
		under.cancel(why)
		s.mu.Unlock()
		<-under.done
		s.mu.Lock()
	}
	if s.state == idle {
		return
	}
	s.enter(context.Background(), abort, transitions[s.state][abort])
	s.mu.Unlock()
	s.finish(nothing, why)
	s.mu.Lock()
}

// end ends the session for good. No step begins any more, so that no worker
// is left when it returns.
func (s *session) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.abortLocked(why)
}

// interval passes an interval's figures on. A client that is too slow to take
// them misses the oldest; the trial's own figures have everything.
func (s *session) interval(figures []byte) {
	if len(figures) == 0 || len(figures) > maxInterval {
		return
	}
	for {
		select {
		case s.intervals <- figures:
			return
		default:
		}
		select {
		case <-s.intervals:
		default:
		}
	}
}

// begins and ends are lines for people.
func (s *session) begins() string {
	alone := ""
	if s.hold.Exclusive {
		alone = ", alone"
	}
	return fmt.Sprintf("session %d of %s begins%s", s.number, who(s.hold), alone)
}

func (s *session) ends(why error) string {
	text := "its client left"
	if !errors.Is(why, context.Canceled) {
		text = why.Error()
	}
	s.mu.Lock()
	trials := s.trial
	s.mu.Unlock()
	return fmt.Sprintf("session %d of %s ends after %v, trials: %d: %s", s.number, who(s.hold), time.Since(s.opened).Round(time.Millisecond), trials, text)
}

// who names a client; the name is its own, and may be anything.
func who(h ctl.Hold) string {
	name := "a client"
	if h.Client != "" {
		name = fmt.Sprintf("%q", h.Client)
	}
	var more []string
	if h.From != "" {
		more = append(more, h.From)
	}
	if h.Version != "" {
		more = append(more, fmt.Sprintf("version %q", h.Version))
	}
	if len(more) > 0 {
		name += " (" + strings.Join(more, ", ") + ")"
	}
	return name
}

// overdue ends a trial that has outlived its time.
func (s *session) overdue(trial uint64, limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trial == trial && s.state != idle {
		s.abortLocked(fmt.Errorf("%w: it was not over within %v", ctl.ErrAborted, limit))
	}
}

// idle is how long no step has been under way.
func (s *session) idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.step != nil:
		return 0
	case s.acted.IsZero():
		return time.Since(s.opened)
	}
	return time.Since(s.acted)
}

// measuring says whether traffic flows.
func (s *session) measuring() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == running
}
