package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"netdelta/internal/ctl"
)

// maxQueue is how many clients may wait for a session.
const maxQueue = 16

// waiter is a client that waits for a session. The queue is served in order:
// who comes later does not overtake, or a client that wants the host alone
// would wait for ever.
type waiter struct {
	s       *session
	changed chan struct{} // gets a token when what it waits for is another
	granted chan struct{} // closed when the session is in the agent's list
}

// admit makes a session when there is room for it. While the client waits, it
// is told for what. What admit returns is in a.open until it is done with.
func (a *Agent) admit(ctx context.Context, h ctl.Hold, send func(ctl.Event) error) (*session, error) {
	s := &session{
		id:        rand.Text(),
		hold:      h,
		start:     a.cfg.Start,
		keep:      a.cfg.Keep,
		grace:     a.cfg.Grace,
		state:     idle,
		opened:    time.Now(), // until it is
		intervals: make(chan []byte, maxIntervals),
	}
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil, ctl.ErrClosing
	}
	a.open.Add(1) // as long as closed is not set, Close has not begun to wait
	w, err := a.enter(s)
	a.mu.Unlock()
	if w != nil {
		err = a.wait(ctx, w, send)
	}
	if err != nil {
		a.open.Done()
		return nil, err
	}
	return s, nil
}

// enter gives the session its place, or one in the queue. The caller holds mu.
func (a *Agent) enter(s *session) (*waiter, error) {
	busy, kind := a.obstacle(s, len(a.queue))
	switch {
	case busy == nil:
		a.grant(s)
		return nil, nil
	case s.hold.Wait <= 0:
		return nil, fmt.Errorf("%w: %s", kind, busy.Reason)
	case len(a.queue) >= maxQueue:
		return nil, fmt.Errorf("%w: %s, and %d others wait already, as many as may", ctl.ErrLimit, busy.Reason, len(a.queue))
	}
	w := &waiter{s: s, changed: make(chan struct{}, 1), granted: make(chan struct{})}
	a.queue = append(a.queue, w)
	return w, nil
}

// obstacle is what keeps a session from being opened now, with that many in
// the queue before it; nil if nothing does. The caller holds mu.
func (a *Agent) obstacle(s *session, before int) (*ctl.Busy, error) {
	held := a.oldest()
	switch {
	case held != nil && held.hold.Exclusive:
		return busy(held, "%s has the host alone since %s", who(held.hold), clock(held.opened)), ctl.ErrBusy
	case held != nil && held.alone:
		return busy(held, "%s has changed settings of the host, and so has it alone, since %s", who(held.hold), clock(held.opened)), ctl.ErrBusy
	case held != nil && s.hold.Exclusive:
		return busy(held, "%d others have the host (the first is %s, since %s), and a session alone cannot be beside them",
			len(a.sessions), who(held.hold), clock(held.opened)), ctl.ErrBusy
	case len(a.sessions) >= a.cfg.MaxSessions:
		return busy(held, "%d sessions are open, as many as this agent takes (the first is of %s, since %s)",
			len(a.sessions), who(held.hold), clock(held.opened)), ctl.ErrLimit
	case before > 0:
		first := a.queue[0].s
		return busy(first, "%s waits for the host and comes first", who(first.hold)), ctl.ErrBusy
	}
	return nil, nil
}

func busy(s *session, format string, args ...any) *ctl.Busy {
	return &ctl.Busy{Reason: fmt.Sprintf(format, args...), Holder: s.hold.Client, Since: s.opened}
}

// clock is a time for people on another host, perhaps in another zone.
func clock(t time.Time) string { return t.UTC().Format("15:04:05 MST") }

// grant puts the session into the list. The caller holds mu.
func (a *Agent) grant(s *session) {
	a.number++
	s.number, s.opened = a.number, time.Now()
	a.sessions[s.id] = s
}

// wait returns when the waiter's session is in the list, or why it will not
// be.
func (a *Agent) wait(ctx context.Context, w *waiter, send func(ctl.Event) error) error {
	limit := time.NewTimer(w.s.hold.Wait)
	defer limit.Stop()
	beat := time.NewTicker(a.cfg.Heartbeat)
	defer beat.Stop()
	reason := a.inTheWay(w)
	e := ctl.Event{Busy: reason}
	for reason != nil {
		if err := send(e); err != nil {
			return a.leave(w, err)
		}
		select {
		case <-w.granted:
			return nil
		case <-w.changed:
			reason = a.inTheWay(w)
			e = ctl.Event{Busy: reason}
		case <-beat.C:
			e = ctl.Event{Heartbeat: true}
		case <-ctx.Done():
			return a.leave(w, ctx.Err())
		case <-a.closing:
			return a.leave(w, ctl.ErrClosing)
		case <-limit.C:
			if reason = a.inTheWay(w); reason != nil {
				return a.leave(w, fmt.Errorf("%w: %s; waited for %v", ctl.ErrBusy, reason.Reason, w.s.hold.Wait))
			}
		}
	}
	return nil // granted
}

// inTheWay is what the waiter waits for; nil if its session is in the list.
func (a *Agent) inTheWay(w *waiter) *ctl.Busy {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.queue, w)
	if i < 0 {
		return nil
	}
	b, _ := a.obstacle(w.s, i)
	return b
}

// leave takes a waiter out of the queue, and gives back a session that it was
// granted at the last moment.
func (a *Agent) leave(w *waiter, why error) error {
	a.mu.Lock()
	i := slices.Index(a.queue, w)
	if i >= 0 {
		a.queue = slices.Delete(a.queue, i, i+1)
		a.next()
	}
	a.mu.Unlock()
	if i < 0 {
		a.release(w.s)
	}
	return why
}

// next lets those in who are at the head of the queue, and tells the others
// that something has changed. The caller holds mu.
func (a *Agent) next() {
	for len(a.queue) > 0 && !a.closed {
		w := a.queue[0]
		if b, _ := a.obstacle(w.s, 0); b != nil {
			break
		}
		a.queue = a.queue[1:]
		a.grant(w.s)
		close(w.granted)
	}
	for _, w := range a.queue {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// oldest is the session that was opened first; nil if there is none. The
// caller holds mu.
func (a *Agent) oldest() *session {
	var first *session
	for _, s := range a.sessions {
		if first == nil || s.number < first.number {
			first = s
		}
	}
	return first
}

// release forgets the session.
func (a *Agent) release(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, s.id)
	a.next()
}
