//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// crrLocal is the end of tcp_crr that connects: connect, request, response, the
// connection's end, close, and again. Each of its threads has one connection at
// a time.
//
// The remote end closes first, so that what stays in TIME_WAIT stays there and
// the local end's ports are free again at once. There a new connection may come
// from a port that an old one is in TIME_WAIT from: the kernel takes it if its
// timestamp or its sequence number is beyond (RFC 6191), as those of one host
// are.
type crrLocal struct {
	cfg      Config
	callers  []*crrCaller
	options  connOptions
	peer     sys.Sockaddr
	from     sys.Sockaddr // to bind to
	bound    bool         // whether that is needed
	peerName netip.AddrPort
	warnings []result.Warning

	end   atomic.Int64 // when a connection is waited for no longer
	ended chan struct{}
}

func newCRRLocal(cfg Config) Engine { return &crrLocal{cfg: cfg, ended: make(chan struct{})} }

// Prepare opens a socket as each connection will, to find out what is refused,
// and closes it again. The test has no port of its own at this end.
func (e *crrLocal) Prepare() (uint16, error) {
	threads := e.cfg.Test.Threads()
	if e.cfg.Port != 0 && threads > 1 {
		return 0, fmt.Errorf("%d threads can't connect from the one port %d: leave the port to the kernel, or take one thread", threads, e.cfg.Port)
	}
	sock, _, err := openTCP(e.cfg)
	if err != nil {
		return 0, err
	}
	e.warnings = sock.warnings
	if err := sock.close(); err != nil {
		return 0, err
	}
	for range threads {
		e.callers = append(e.callers, newCRRCaller(e))
	}
	return 0, nil
}

// Arm makes one connection, which is no transaction, to find out whether there
// is anything to connect to. It ends and then is reset, so that nothing is left
// in TIME_WAIT at this end: if one of the two is lost on the way the answerer
// learns of it by the other, and if both are it drops the connection after a
// while.
func (e *crrLocal) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	sock, _, err := openTCP(e.cfg)
	if err != nil {
		return err
	}
	defer sock.close()
	if e.peer, err = sock.rawAddr(peer); err != nil {
		return err
	}
	if e.from, err = sock.rawAddr(netip.AddrPortFrom(e.cfg.Addr, e.cfg.Port)); err != nil {
		return err
	}
	e.peerName = peer
	e.bound = e.cfg.Port != 0 || !e.chosenAnyway(peer)
	e.options = newConnOptions(e.cfg, e.bound)
	if err := sock.dial(peer, connectTime); err != nil {
		return err
	}
	before := len(sock.warnings)
	if err := sock.setConnOptions(e.cfg, true); err != nil {
		return err
	}
	e.warnings = append(e.warnings, sock.warnings[before:]...)
	sock.shutdown(unix.SHUT_WR)
	return sock.resetOnClose()
}

// chosenAnyway says whether connections to the peer come from this end's
// address also if they are not bound to it, which saves calls. Connecting a UDP
// socket looks the route up and sends nothing.
func (e *crrLocal) chosenAnyway(peer netip.AddrPort) bool {
	cfg := e.cfg
	cfg.Test.Params.MSS, cfg.Test.Params.Congestion = 0, "" // TCP's
	s, err := openSocket(cfg, unix.SOCK_DGRAM, unix.IPPROTO_UDP, "UDP socket")
	if err != nil {
		return false
	}
	defer s.close()
	if s.connect(peer) != nil {
		return false
	}
	sa, err := unix.Getsockname(int(s.Sock))
	return err == nil && addrPort(sa).Addr() == e.cfg.Addr.Unmap().WithZone("")
}

// rawAddr is an address for the calls of loops.
func (s *socket) rawAddr(a netip.AddrPort) (sys.Sockaddr, error) {
	zone := uint32(0)
	if name := a.Addr().Zone(); name != "" {
		var err error
		if zone, err = s.zoneIndex(name); err != nil {
			return sys.Sockaddr{}, fmt.Errorf("find interface %s of address %v: %w", name, a.Addr(), err)
		}
	}
	return sys.NewSockaddr(a, zone), nil
}

// resetOnClose has close reset the connection (SO_LINGER of socket(7)).
func (s *socket) resetOnClose() error {
	if err := unix.SetsockoptLinger(int(s.Sock), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		return fmt.Errorf("set SO_LINGER of a %s: %w", s.what, err)
	}
	return nil
}

func (e *crrLocal) Run() (result.End, error) {
	limit := e.cfg.Warmup + e.cfg.Window + unfinishedTime
	e.end.Store(sys.Nanotime() + int64(limit))
	cancel := e.cutOff(limit)
	ends := make([]result.End, len(e.callers))
	err := crew(&e.cfg, len(e.callers), func(i int) (err error) {
		ends[i], err = e.callers[i].run()
		return err
	}, e.giveUp)
	cancel()
	if err != nil {
		return result.End{}, err
	}
	end := e.cfg.share.spanned(combined(ends))
	end.Warnings = append(e.warnings, e.complaints(end)...)
	return end, nil
}

// complaints are the warnings of all threads.
func (e *crrLocal) complaints(end result.End) []result.Warning {
	var all []result.Warning
	var first error
	messages, unfinished := int64(0), false
	for _, c := range e.callers {
		messages += c.meter.messages
		unfinished = unfinished || c.unfinished
		if first == nil {
			first = c.first
		}
	}
	if n := end.Counts[CountFailed]; n > 0 || messages == 0 && first != nil {
		all = append(all, result.Warning{
			Code:   WarnFailed,
			Text:   fmt.Sprintf("%d of %d connections of the window failed, the first one of the trial: %v", n, end.Counts[CountSent], first),
			Advice: "their times are in no round trip: look for resets, refusals and a peer that has gone",
		})
	}
	if n := end.Counts[CountConnectRetries]; n > 0 {
		all = append(all, result.Warning{
			Code:   WarnPorts,
			Text:   fmt.Sprintf("%d times no local port was free for a connection to %v, which was waited for", n, e.peerName),
			Advice: "the waits are in the rate and in no round trip: widen net.ipv4.ip_local_port_range, or set net.ipv4.tcp_tw_reuse to 1",
		})
	}
	if unfinished {
		all = append(all, result.Warning{
			Code:   WarnUnfinished,
			Text:   fmt.Sprintf("a connection of %s had not ended %v after the window", e.cfg.Test.Name, unfinishedTime),
			Advice: "its time is in no figure: look at retransmissions and at the link",
		})
	}
	if messages == 0 {
		all = append(all, noTraffic)
	}
	return all
}

// giveUp has all threads end.
func (e *crrLocal) giveUp() {
	e.end.Store(0)
	close(e.ended)
}

// cutOff shuts down what the threads wait for, from a time on or from giveUp,
// until cancel is called. A descriptor may belong to a connection of another
// thread by then, or be no socket: that one has to end too, and the other call
// fails.
func (e *crrLocal) cutOff(after time.Duration) (cancel func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-stop:
			return
		case <-e.ended:
		case <-timer.C:
		}
		for {
			for _, c := range e.callers {
				if fd := c.current.Load(); fd >= 0 {
					_ = unix.Shutdown(int(fd), unix.SHUT_RDWR)
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(pollTime):
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// over says that nothing is waited for any longer.
func (e *crrLocal) over() bool { return sys.Nanotime() >= e.end.Load() }

func (e *crrLocal) Stop() {}

// Intervals are those of the one thread; several have theirs added up at the
// end.
func (e *crrLocal) Intervals() *Intervals {
	if len(e.callers) != 1 {
		return nil
	}
	return e.callers[0].meter.parts
}

func (e *crrLocal) Close() error {
	var errs []error
	for _, c := range e.callers {
		errs = append(errs, c.conn.close())
	}
	return errors.Join(errs...)
}
