//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"
	"net/netip"
	"time"

	"netdelta/internal/sys"
)

// connectsAtOnce is how many connections are made at the same time: on a long path
// one after the other takes too long, and more may overflow the other end's
// queue of those that are half made.
const connectsAtOnce = 64

// openConns makes n sockets, of which the first has the configuration's port,
// and returns that one's.
func openConns(cfg Config, n int) (all []*socket, port uint16, err error) {
	if err := roomForFlows(cfg, n); err != nil {
		return nil, 0, err
	}
	for i := range n {
		s, p, err := openTCP(cfg)
		if err != nil {
			if n > 1 {
				err = fmt.Errorf("connection %d of %d: %w", i+1, n, err)
			}
			return all, 0, err
		}
		all = append(all, s)
		if i == 0 {
			port, cfg.Port = p, 0
		}
	}
	return all, port, nil
}

// dialConns connects sockets, within a time for every connectsAtOnce of them.
func dialConns(all []*socket, peer netip.AddrPort, limit time.Duration) error {
	for len(all) > 0 {
		some := all[:min(connectsAtOnce, len(all))]
		all = all[len(some):]
		for _, s := range some {
			if err := s.beginDial(peer); err != nil {
				return err
			}
		}
		until := time.Now().Add(limit)
		for _, s := range some {
			if err := s.endDial(peer, until, limit); err != nil {
				return err
			}
		}
	}
	return nil
}

// acceptor accepts the connections of a remote end, from Arm on: more of them
// than a listener keeps may be under way.
type acceptor struct {
	listener *socket
	// conns are where the connections go. The first is from the peer's own
	// port, and the others are from any port of the peer's.
	conns []*socket
	setUp func(*socket) error

	done chan struct{} // nil before start
	n    int           // accepted so far, when done
	err  error
}

// start accepts in the background until all have come, or over says that no
// more will.
func (a *acceptor) start(peer netip.AddrPort, over func() bool) {
	a.done = make(chan struct{})
	go func() {
		defer close(a.done)
		a.err = a.accept(peer, over)
	}()
}

func (a *acceptor) accept(peer netip.AddrPort, over func() bool) error {
	first, others := false, 0
	peer = plainAddr(peer)
	wanted := func(from netip.AddrPort) bool {
		if from == peer {
			return !first
		}
		return from.Addr() == peer.Addr() && others < len(a.conns)-1
	}
	for a.n < len(a.conns) {
		c, from, err := a.listener.acceptFrom(wanted, over, pollTime)
		if err != nil || c == nil {
			return err
		}
		place := a.conns[0]
		if from == peer {
			first = true
		} else {
			others++
			place = a.conns[others]
		}
		*place = *c
		a.n++
		if err := a.setUp(place); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for the end of start, and says whether all connections have come.
func (a *acceptor) wait() (all bool, err error) {
	if a.done == nil {
		return false, nil
	}
	<-a.done
	return a.n == len(a.conns), a.err
}

// hangUpConns ends connections; see hangUp. The limit is for all of them.
func hangUpConns(all []*socket, limit time.Duration) {
	var ending []*socket
	for _, s := range all {
		if s.beginHangUp() {
			ending = append(ending, s)
		}
	}
	scrap := make([]byte, 1)
	until := sys.Nanotime() + int64(limit)
	for _, s := range ending {
		s.endHangUp(scrap, until)
	}
}
