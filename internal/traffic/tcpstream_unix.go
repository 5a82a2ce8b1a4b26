//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"net/netip"

	"netdelta/internal/result"
)

// tcpLocal is the local end of a TCP stream of any direction: it makes the
// connections.
type tcpLocal struct {
	cfg    Config
	team   team
	conns  []*socket
	halves []half
}

func newTCPLocal(cfg Config) Engine { return &tcpLocal{cfg: cfg} }

func (e *tcpLocal) Prepare() (port uint16, err error) {
	if e.conns, port, err = openConns(e.cfg, connections(e.cfg.Test)); err != nil {
		return 0, err
	}
	if e.halves, err = halves(&e.cfg, &e.team, e.conns); err != nil {
		return 0, err
	}
	if err := openSource(&e.cfg); err != nil {
		return 0, err
	}
	if e.cfg.Test.Kind().Sends() { // what receives needs a connection first
		err = e.halves[0].ready()
	}
	return port, err
}

func (e *tcpLocal) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := dialConns(e.conns, peer, connectTime); err != nil {
		return err
	}
	for _, c := range e.conns {
		c.lasts(&e.cfg)
		if err := c.setConnOptions(e.cfg, false); err != nil {
			return err
		}
	}
	return e.halves[0].ready()
}

func (e *tcpLocal) Run() (result.End, error) { return runHalves(&e.cfg, &e.team, e.halves) }

func (e *tcpLocal) Stop() {}

func (e *tcpLocal) Intervals() *Intervals { return watched(&e.cfg, e.halves) }

func (e *tcpLocal) Close() error { return closeHalves(&e.cfg, e.halves, e.conns) }

// tcpRemote is the remote end of a TCP stream of any direction: it accepts the
// connections, from Arm on.
type tcpRemote struct {
	cfg      Config
	team     team
	accepted *acceptor // nil before Arm
	listener *socket
	halves   []half
}

func newTCPRemote(cfg Config) Engine { return &tcpRemote{cfg: cfg} }

func (e *tcpRemote) Prepare() (port uint16, err error) {
	if err := roomForFlows(e.cfg, connections(e.cfg.Test)); err != nil {
		return 0, err
	}
	// The halves come before their connections, so that their intervals can be
	// watched from now on.
	places := make([]*socket, connections(e.cfg.Test))
	for i := range places {
		places[i] = &socket{Sock: -1, what: "TCP socket"}
	}
	if e.halves, err = halves(&e.cfg, &e.team, places); err != nil {
		return 0, err
	}
	if err := openSource(&e.cfg); err != nil {
		return 0, err
	}
	// What this host has not is told before anything runs.
	if err := tryMethods(e.cfg); err != nil {
		return 0, err
	}
	e.listener, port, err = listenTCP(e.cfg)
	e.accepted = &acceptor{listener: e.listener, conns: places, setUp: e.setUp}
	return port, err
}

// setUp is for a connection that was accepted.
func (e *tcpRemote) setUp(c *socket) error {
	c.lasts(&e.cfg)
	return c.setConnOptions(e.cfg, false)
}

func (e *tcpRemote) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	e.accepted.start(peer, e.team.stop.Load)
	return nil
}

func (e *tcpRemote) Run() (result.End, error) {
	all, err := e.accepted.wait()
	if err != nil {
		return result.End{}, err
	}
	if !all { // Stop came first
		return result.End{Role: result.Remote, Warnings: mergedWarnings(e.listener.warnings, []result.Warning{noTraffic})}, nil
	}
	end, err := runHalves(&e.cfg, &e.team, e.halves)
	end.Warnings = mergedWarnings(e.listener.warnings, end.Warnings)
	return end, err
}

func (e *tcpRemote) Stop() { e.team.stop.Store(true) }

func (e *tcpRemote) Intervals() *Intervals { return watched(&e.cfg, e.halves) }

func (e *tcpRemote) Close() error {
	e.team.stop.Store(true)
	if e.accepted == nil {
		return closeSource(&e.cfg)
	}
	e.accepted.wait()
	return errors.Join(closeHalves(&e.cfg, e.halves, e.accepted.conns), e.listener.close())
}
