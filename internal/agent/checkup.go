package agent

import (
	"context"
	"fmt"
	"net/netip"

	"netdelta/internal/counters"
	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// Checkup looks at the machine, and at the network of the namespace in which
// workers run. It is refused while a trial is under way, which it would
// disturb, and while another one is.
func (a *Agent) Checkup(ctx context.Context, l ctl.Look) (*result.Counters, error) {
	if err := a.beginCheckup(); err != nil {
		return nil, err
	}
	defer a.endCheckup()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-a.closing:
			cancel(ctl.ErrClosing)
		case <-done:
		}
	}()

	o := counters.Options{Addr: a.own(l)}
	var counted *result.Counters
	look := func() (err error) {
		counted, err = counters.Look(ctx, o, l.Length)
		return err
	}
	var err error
	if a.cfg.NS == nil {
		err = look()
	} else {
		err = a.cfg.NS.Do(look)
	}
	return counted, err
}

// own is the host's address on the path, by the way to the peer where it is
// left open; the zero Addr where there is none.
func (a *Agent) own(l ctl.Look) netip.Addr {
	if l.Addr.IsValid() || !l.Peer.IsValid() {
		return l.Addr
	}
	cfg := traffic.Config{Addr: netip.IPv6Unspecified(), Peer: l.Peer}
	if l.Peer.Unmap().Is4() {
		cfg.Addr = netip.IPv4Unspecified()
	}
	if err := place(a.cfg.NS, &cfg); err != nil {
		return netip.Addr{} // a run will say what is wrong with the way
	}
	return cfg.Addr
}

func (a *Agent) beginCheckup() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return ctl.ErrClosing
	}
	if a.looking {
		return fmt.Errorf("%w: another checkup is under way", ctl.ErrBusy)
	}
	for _, s := range a.sessions {
		if s.atWork() {
			return fmt.Errorf("%w: a trial of %s is under way, which a look would disturb", ctl.ErrBusy, who(s.hold))
		}
	}
	a.looking = true
	a.open.Add(1) // as long as closed is not set, Close has not begun to wait
	return nil
}

func (a *Agent) endCheckup() {
	a.mu.Lock()
	a.looking = false
	a.mu.Unlock()
	a.open.Done()
}

// atWork says that a trial is under way.
func (s *session) atWork() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state != idle || s.step != nil
}
