package agent

import (
	"context"
	"errors"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
)

// An agent finds the interface of its own namespace that the path has, by its
// address or by its peer's, and looks at nothing while it measures.
func TestCheckup(t *testing.T) {
	x := newBench(t, Config{})
	c := dial(t, "b", x.way, ctl.Options{})
	const short = 20 * time.Millisecond
	for _, l := range []ctl.Look{{Addr: x.link.AddrB(), Length: short}, {Peer: x.link.AddrA(), Length: short}} {
		got, err := c.Checkup(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if r := got.Reading(result.SourceCPU); got.Device != x.lab.B.Device || r == nil || r.Elapsed < short {
			t.Errorf("%+v: got %+v", l, got)
		}
	}
	nowhere := ctl.Look{Peer: netip.MustParseAddr("203.0.113.9"), Length: short}
	if got, err := c.Checkup(t.Context(), nowhere); err != nil || got.Device != "" {
		t.Errorf("without a way to the peer: %+v, %v", got, err)
	}

	local, remote := open(t, x.a), open(t, c)
	if _, err := c.Checkup(t.Context(), ctl.Look{Length: short}); err != nil {
		t.Errorf("beside an idle session: %v", err)
	}
	if err := x.start(t, local, remote, "udp_rr", time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Checkup(t.Context(), ctl.Look{Length: short}); !errors.Is(err, ctl.ErrBusy) {
		t.Errorf("beside a trial: %v", err)
	}
	if err := remote.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Checkup(t.Context(), ctl.Look{Length: short}); err != nil {
		t.Errorf("after the trial: %v", err)
	}
}

// One look at a time, and none outlasts its agent.
func TestCheckupEnds(t *testing.T) {
	a := New(Config{Start: newStable().start})
	first := make(chan error, 1)
	go func() {
		_, err := a.Checkup(context.Background(), ctl.Look{Length: time.Hour})
		first <- err
	}()
	for { // until the first has begun
		a.mu.Lock()
		looking := a.looking
		a.mu.Unlock()
		if looking {
			break
		}
		runtime.Gosched()
	}
	if _, err := a.Checkup(t.Context(), ctl.Look{Length: time.Hour}); !errors.Is(err, ctl.ErrBusy) {
		t.Errorf("beside another one: %v", err)
	}
	a.Close()
	if err := <-first; !errors.Is(err, ctl.ErrClosing) {
		t.Errorf("at the agent's end: %v", err)
	}
	if _, err := a.Checkup(t.Context(), ctl.Look{Length: time.Hour}); !errors.Is(err, ctl.ErrClosing) {
		t.Errorf("after the agent's end: %v", err)
	}
}
