//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// crrBacklog is how many connections may wait to be accepted. Each of the local
// end's threads has one, and those of strangers come on top.
const crrBacklog = 1024

// crrFirstByte is how long a connection that brings nothing may keep others
// waiting: its peer may have gone without a word.
const crrFirstByte = time.Second

// crrRemote is the end of tcp_crr that answers: its threads accept, read a
// request, respond and close.
type crrRemote struct {
	cfg       Config
	listener  *socket
	options   connOptions
	peer      sys.Sockaddr
	stop      atomic.Bool
	answerers []*crrAnswerer
}

func newCRRRemote(cfg Config) Engine { return &crrRemote{cfg: cfg} }

// Prepare listens. What a connection is to have the listener has: it takes that
// over, TCP_NODELAY and the limit of each wait too.
func (e *crrRemote) Prepare() (port uint16, err error) {
	if e.listener, port, err = listenTCP(e.cfg); err != nil {
		return 0, err
	}
	if e.cfg.Test.Params.NoDelay != spec.Off {
		if err := e.listener.noDelay(); err != nil {
			return 0, err
		}
	}
	if err := unix.Listen(int(e.listener.Sock), crrBacklog); err != nil {
		return 0, fmt.Errorf("let %d connections wait at a %s (listen): %w", crrBacklog, e.listener.what, err)
	}
	e.options = newConnOptions(e.cfg, false)
	for range e.cfg.Test.Threads() {
		e.answerers = append(e.answerers, newCRRAnswerer(e))
	}
	return port, nil
}

func (e *crrRemote) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	e.peer = sys.NewSockaddr(peer, 0) // whatever port a connection comes from
	return nil
}

func (e *crrRemote) Run() (result.End, error) {
	ends := make([]result.End, len(e.answerers))
	err := crew(&e.cfg, len(e.answerers), func(i int) (err error) {
		ends[i], err = e.answerers[i].run()
		return err
	}, e.Stop)
	if err != nil {
		return result.End{}, err
	}
	end := e.cfg.share.spanned(combined(ends))
	// Threads share the listener: one may have got nothing of it.
	if slices.ContainsFunc(e.answerers, func(a *crrAnswerer) bool { return a.meter.messages > 0 }) {
		end.Warnings = slices.DeleteFunc(end.Warnings, func(w result.Warning) bool { return w == noTraffic })
	}
	end.Warnings = append(end.Warnings, e.listener.warnings...)
	return end, nil
}

func (e *crrRemote) Stop() { e.stop.Store(true) }

// Intervals is explained at the local end.
func (e *crrRemote) Intervals() *Intervals {
	if len(e.answerers) != 1 {
		return nil
	}
	return e.answerers[0].meter.parts
}

func (e *crrRemote) Close() error { return e.listener.close() }

// crrAnswerer is one thread of tcp_crr's remote end.
type crrAnswerer struct {
	engine   *crrRemote
	meter    meter
	request  []byte // a chunk, see maxChunk
	response []byte
	sizes    [2]int       // of whole messages: request, response
	from     sys.Sockaddr // of the present connection
	conn     socket
	failed   int64
}

func newCRRAnswerer(e *crrRemote) *crrAnswerer {
	test := e.cfg.Test
	a := &crrAnswerer{
		engine: e, meter: meterOf(e.cfg),
		sizes: [2]int{test.RequestSize(), test.ResponseSize()},
		conn:  socket{Sock: -1, what: "TCP connection"},
	}
	a.request = make([]byte, min(a.sizes[0], maxChunk))
	a.response = make([]byte, min(a.sizes[1], maxChunk))
	return a
}

func (a *crrAnswerer) run() (result.End, error) {
	if err := a.loop(); err != nil {
		return result.End{}, err
	}
	a.quiet(sys.Nanotime())
	end := a.meter.receiverResult(nil)
	end.Counts = map[string]int64{CountFailed: a.failed}
	return end, nil
}

// loop answers connections until Stop.
func (a *crrAnswerer) loop() error {
	e := a.engine
	for !e.stop.Load() {
		sock, errno := e.listener.Accept(&a.from)
		if errno != 0 {
			if err := a.none(errno); err != nil {
				return err
			}
			continue
		}
		if !a.from.SameHost(&e.peer) {
			sock.Close()
			continue
		}
		e.options.accepted(sock)
		a.conn.Sock = sock
		whole := a.answer()
		sock.Close()
		if whole && a.meter.event(1, a.sizes[0]+a.sizes[1], sys.Nanotime()) && a.meter.phase == open {
			a.failed = 0
		}
	}
	return nil
}

// answer serves one connection, and says whether the response went out whole.
//
//go:nosplit
func (a *crrAnswerer) answer() bool {
	n, errno := a.conn.Sock.Recv(a.request, 0)
	if n != a.sizes[0] && !a.receiveRest(n, errno) {
		return false
	}
	n, errno = a.conn.Sock.Send(a.response, unix.MSG_NOSIGNAL)
	return n == a.sizes[1] || a.sendRest(n, errno)
}

// none deals with an accept call that brought no connection. One that has gone
// already is the listener's to try again after (accept(2)).
//
//go:noinline
func (a *crrAnswerer) none(errno unix.Errno) error {
	if !transient(errno) && errno != unix.ECONNABORTED && errno != unix.EPROTO {
		return a.engine.listener.failed("accept on", errno)
	}
	a.quiet(sys.Nanotime())
	return nil
}

// quiet is the passing of time without a connection. The window's own counts
// begin with it.
func (a *crrAnswerer) quiet(now int64) {
	if a.meter.silence(now) && a.meter.phase == open {
		a.failed = 0
	}
}

//go:noinline
func (a *crrAnswerer) receiveRest(n int, errno unix.Errno) bool {
	for until := sys.Nanotime() + int64(crrFirstByte); errno == unix.EAGAIN || errno == unix.EINTR; {
		if a.engine.stop.Load() || sys.Nanotime() >= until && a.engine.othersWait() {
			return false
		}
		n, errno = a.conn.Recv(a.request, 0)
	}
	// One that ends before it began is the local end's look whether there is
	// anybody.
	if n == 0 && errno == 0 || errno == unix.ECONNRESET {
		return false
	}
	return a.whole(a.conn.receiveRest(a.request, n, a.sizes[0], errno, a.engine.stop.Load))
}

//go:noinline
func (a *crrAnswerer) sendRest(n int, errno unix.Errno) bool {
	return a.whole(a.conn.sendRest(a.response, n, a.sizes[1], errno, a.engine.stop.Load))
}

// othersWait says that there is another connection to accept.
func (e *crrRemote) othersWait() bool {
	ready, errno := e.listener.Poll(unix.POLLIN, 0)
	return ready > 0 && errno == 0
}

// whole counts a connection that broke off.
func (a *crrAnswerer) whole(err error) bool {
	if err != nil && !errors.Is(err, errOver) {
		a.failed++ // for whatever reason: the local end tells it
	}
	return err == nil
}
