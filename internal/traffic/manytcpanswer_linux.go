package traffic

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// manyTCPRemote is the end of tcp_rr that answers, on many connections.
type manyTCPRemote struct {
	cfg    Config
	accept accepting
	parts  []*tcpAnswerer // by thread
}

func newManyTCPRemote(cfg Config) Engine { return &manyTCPRemote{cfg: cfg} }

func (e *manyTCPRemote) Prepare() (port uint16, err error) {
	if err := checkMany(e.cfg); err != nil {
		return 0, err
	}
	if err := filesForFlows(e.cfg); err != nil {
		return 0, err
	}
	a, flows, threads := &e.accept, e.cfg.Test.Flows(), e.cfg.Test.Threads()
	a.cfg = e.cfg
	if a.listener, port, err = listenTCP(e.cfg); err != nil {
		return 0, err
	}
	// The kernel makes net.core.somaxconn of it if that is less.
	if err := unix.Listen(int(a.listener.Sock), flows); err != nil {
		return 0, fmt.Errorf("listen for %d connections on a %s: %w", flows, a.listener.what, err)
	}
	if a.sets, err = newEpolls(threads); err != nil {
		return 0, err
	}
	for i := range threads {
		e.parts = append(e.parts, newTCPAnswerer(e.cfg, flowsOf(i, flows, threads), a))
		e.parts[i].set = a.sets[i]
	}
	return port, nil
}

func (e *manyTCPRemote) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	e.accept.peer = peer.Addr().Unmap().WithZone("")
	e.accept.start()
	return nil
}

func (e *manyTCPRemote) Run() (result.End, error) {
	err := crew(&e.cfg, len(e.parts), func(i int) error { return e.parts[i].loop() }, e.Stop)
	err = joined(err, e.accept.end())
	for _, c := range e.accept.conns {
		c.shutdown(unix.SHUT_RDWR)
	}
	if err != nil {
		return result.End{}, err
	}
	ends := make([]result.End, len(e.parts))
	for i, p := range e.parts {
		p.meter.silence(sys.Nanotime())
		ends[i] = p.meter.receiverResult(nil)
	}
	end := manyEnd(&e.cfg, ends)
	end.Warnings = append(end.Warnings, socketWarnings(append(e.accept.conns, e.accept.listener))...)
	return end, nil
}

// Stop ends Run within a wait of each thread.
func (e *manyTCPRemote) Stop() { e.accept.stop.Store(true) }

func (e *manyTCPRemote) Intervals() *Intervals {
	meters := make([]*meter, len(e.parts))
	for i, p := range e.parts {
		meters[i] = &p.meter
	}
	return manyIntervals(meters...)
}

func (e *manyTCPRemote) Close() error {
	_ = e.accept.end() // Run has told of it
	return errors.Join(closeAll(e.accept.conns, e.accept.sets), e.accept.listener.close())
}

// tcpAnswerer is a thread's part of the flows.
type tcpAnswerer struct {
	set    sys.Epoll
	accept *accepting
	meter  meter
	flows  []tcpAnswering
	events [manyEvents]unix.EpollEvent
	sizes  [2]int // of whole messages: request, response
	in     []byte // a chunk, see maxChunk
	out    []byte

	answers int // that were sent since the latest look at the clock
	ended   int // connections
	err     error
}

// tcpAnswering is one connection. Its descriptor comes with each event.
type tcpAnswering struct {
	got   int // bytes of the next request that are in
	owed  int // bytes of responses that are to be sent
	asked int // requests whose response is not all sent
	ended bool
}

func newTCPAnswerer(cfg Config, flows int, a *accepting) *tcpAnswerer {
	w := &tcpAnswerer{
		accept: a, meter: meterOf(cfg),
		flows: make([]tcpAnswering, flows),
		sizes: [2]int{cfg.Test.RequestSize(), cfg.Test.ResponseSize()},
	}
	w.in = make([]byte, chunkOf(cfg.Test.Burst(), w.sizes[0])+1)
	w.out = make([]byte, chunkOf(cfg.Test.Burst(), w.sizes[1]))
	return w
}

// loop answers until Stop, or until every connection has ended: the local end
// hangs up when it has finished.
func (w *tcpAnswerer) loop() error {
	for w.err == nil && w.ended < len(w.flows) && !w.accept.stop.Load() {
		n, errno := w.set.Wait(w.events[:], manyWait)
		if errno != 0 {
			w.failed(errno)
		}
		for i := range w.events[:n] {
			w.serve(&w.events[i])
		}
		if w.answers > 0 {
			w.meter.event(w.answers, w.answers*(w.sizes[0]+w.sizes[1]), sys.Nanotime())
			w.answers = 0
		}
	}
	return w.err
}

// serve deals with an event of one flow: it reads what has come in, and
// answers as far as there is room, each request by a call of its own.
//
//go:nosplit
func (w *tcpAnswerer) serve(event *unix.EpollEvent) {
	f, sock := &w.flows[event.Fd], sys.Sock(event.Pad)
	if f.ended || event.Events&readable != 0 && !w.receive(f, event) {
		return
	}
	for f.owed > 0 {
		n, errno := sock.Send(w.out[:min(untilNext(f.owed, w.sizes[1]), len(w.out))], unix.MSG_NOSIGNAL)
		if errno != 0 {
			if errno == unix.EINTR {
				continue
			}
			if errno != unix.EAGAIN {
				w.gone(f, event, errno)
			}
			return
		}
		f.owed -= n
		left, part := divide(f.owed, w.sizes[1])
		if part > 0 {
			left++
		}
		w.answers += f.asked - left
		f.asked = left
	}
}

// receive reads requests, and says whether the connection goes on.
//
//go:nosplit
func (w *tcpAnswerer) receive(f *tcpAnswering, event *unix.EpollEvent) bool {
	for turn := 0; ; turn++ {
		n, errno := sys.Sock(event.Pad).Recv(w.in, 0)
		if errno != 0 || n <= 0 {
			if errno == unix.EAGAIN {
				return true
			}
			if errno == unix.EINTR {
				continue
			}
			w.gone(f, event, errno)
			return false
		}
		requests, rest := divide(f.got+n, w.sizes[0])
		f.got = rest
		f.asked += requests
		f.owed += requests * w.sizes[1]
		if n < len(w.in) && event.Events&hungUp == 0 {
			return true
		}
		if turn == manyTurns {
			w.again(event)
			return true
		}
	}
}

// again has a flow that may have more to read wait until others have had their
// turn.
//
//go:noinline
func (w *tcpAnswerer) again(event *unix.EpollEvent) {
	if err := w.set.Change(int(event.Pad), int(event.Fd), tcpEvents); err != nil {
		w.err = err
	}
}

// failed is a wait that failed.
//
//go:noinline
func (w *tcpAnswerer) failed(errno unix.Errno) {
	if errno != unix.EINTR {
		w.err = fmt.Errorf("wait for requests (epoll_wait): %w", errno)
	}
}

// gone deals with a connection that has ended, and ends this side of it.
//
//go:noinline
func (w *tcpAnswerer) gone(f *tcpAnswering, event *unix.EpollEvent, errno unix.Errno) {
	f.ended = true
	w.ended++
	_ = unix.Shutdown(int(event.Pad), unix.SHUT_RDWR) // it may be gone for good
	switch errno {
	case 0, unix.ECONNRESET, unix.EPIPE:
	default:
		w.err = fmt.Errorf("answer on a TCP socket: %w", errno)
	}
}
