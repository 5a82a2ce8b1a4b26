package traffic

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// manyUDPRemote is the end of udp_rr that answers many flows: a socket for each
// thread, all at one port, among which the kernel shares out the peer's ports
// (SO_REUSEPORT of socket(7)). It answers whatever port of the peer asks.
type manyUDPRemote struct {
	cfg   Config
	socks []*socket
	parts []*udpAnswerer // by thread
	stop  atomic.Bool
}

func newManyUDPRemote(cfg Config) Engine { return &manyUDPRemote{cfg: cfg} }

func (e *manyUDPRemote) Prepare() (port uint16, err error) {
	if err := checkMany(e.cfg); err != nil {
		return 0, err
	}
	// The first socket has the port to itself, so that it is one that no other
	// trial has; then it lets the others in.
	first, port, err := openUDP(e.cfg)
	if err != nil {
		return 0, err
	}
	e.socks = append(e.socks, first)
	flows, threads := e.cfg.Test.Flows(), e.cfg.Test.Threads()
	for i := range threads {
		if i > 0 {
			s, err := openSocket(e.cfg, unix.SOCK_DGRAM, unix.IPPROTO_UDP, "UDP socket")
			if err != nil {
				return 0, err
			}
			e.socks = append(e.socks, s)
			if err := sharePort(s); err != nil {
				return 0, err
			}
			if _, err := s.bind(e.cfg.Addr, port); err != nil {
				return 0, err
			}
		} else if threads > 1 {
			if err := sharePort(first); err != nil {
				return 0, err
			}
		}
		if err := e.socks[i].makeRoom(e.cfg, flows*e.cfg.Test.Burst(), e.cfg.Test.RequestSize()); err != nil {
			return 0, err
		}
		e.parts = append(e.parts, newUDPAnswerer(e.cfg, e.socks[i].Sock, &e.stop))
	}
	return port, nil
}

func sharePort(s *socket) error {
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return s.refusedOption("SO_REUSEPORT", "1", "", err)
	}
	return nil
}

func (e *manyUDPRemote) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	for i, p := range e.parts {
		p.peer = sys.SourceOf(peer)
		e.socks[i].watchDrops()
		e.socks[i].lasts(&e.cfg)
	}
	return nil
}

func (e *manyUDPRemote) Run() (result.End, error) {
	err := crew(&e.cfg, len(e.parts), func(i int) error {
		if err := e.parts[i].loop(); err != nil {
			return err
		}
		return e.parts[i].empty()
	}, e.Stop)
	if err != nil {
		return result.End{}, err
	}
	ends := make([]result.End, len(e.parts))
	var answered, received int64
	for i, p := range e.parts {
		p.meter.silence(sys.Nanotime())
		ends[i] = p.meter.receiverResult(nil)
		ends[i].Counts = map[string]int64{CountSendErrors: p.sendErrors}
		answered += p.meter.messages
		received += p.meter.messages + p.sendErrors + p.others
	}
	end := manyEnd(&e.cfg, ends)
	countAll(end.Counts, answered, received, e.socks...)
	end.Warnings = append(end.Warnings, socketWarnings(e.socks)...)
	return end, nil
}

// Stop ends what waits to receive, also on a socket that is not connected: the
// kernel says that it isn't, and wakes the thread all the same.
func (e *manyUDPRemote) Stop() {
	e.stop.Store(true)
	for _, s := range e.socks {
		s.shutdown(unix.SHUT_RD)
	}
}

func (e *manyUDPRemote) Intervals() *Intervals {
	meters := make([]*meter, len(e.parts))
	for i, p := range e.parts {
		meters[i] = &p.meter
	}
	return manyIntervals(meters...)
}

func (e *manyUDPRemote) Close() error { return closeAll(e.socks, nil) }

// Limits of what a thread receives with one call.
const (
	manyBatch      = 64
	manyBatchBytes = 256 << 10
)

// udpAnswerer is a thread with its socket. It answers by batches: each of what
// is there when it looks.
type udpAnswerer struct {
	sock       sys.Sock
	stop       *atomic.Bool
	meter      meter
	peer       sys.Source
	in, out    *sys.Messages
	requests   [][]byte
	answers    [][]byte
	width      int // bytes of a request's number
	payload    int
	sendErrors int64
	others     int64 // the peer's datagrams of the whole trial that were not to be answered
	err        error
}

func newUDPAnswerer(cfg Config, sock sys.Sock, stop *atomic.Bool) *udpAnswerer {
	request, response := cfg.Test.RequestSize(), cfg.Test.ResponseSize()
	w := &udpAnswerer{sock: sock, stop: stop, meter: meterOf(cfg), width: rrNumberWidth(cfg), payload: request + response}
	for range max(min(manyBatch, manyBatchBytes/max(request, response)), 1) {
		w.requests = append(w.requests, make([]byte, request))
		w.answers = append(w.answers, make([]byte, response))
	}
	w.in, w.out = sys.NewMessages(w.requests), sys.NewMessages(w.answers)
	w.in.WithSources()
	w.out.Reply(w.in, cfg.Addr.Is4())
	return w
}

// loop answers until Stop.
func (w *udpAnswerer) loop() error {
	for w.err == nil && !w.stop.Load() {
		n, errno := w.sock.ReceiveMessages(w.in, unix.MSG_WAITFORONE)
		if errno != 0 {
			w.failed("receive from", errno)
		}
		done, from := 0, 0
		for i := range n {
			if peer := w.in.Source(i); w.in.Length(i) < w.width || !peer.SameHost(&w.peer) || peer.Port() == 0 {
				// Those before it are answered, this one isn't: nothing can be sent
				// to port 0.
				w.unanswered(i)
				done += w.answer(from, i)
				from = i + 1
				continue
			}
			copy(w.answers[i][:w.width], w.requests[i])
		}
		done += w.answer(from, n)
		if done > 0 {
			w.meter.event(done, done*w.payload, sys.Nanotime())
		}
	}
	return w.err
}

// unanswered counts a datagram that is not to be answered, if it is one of the
// peer's: Stop ends a receive call with no bytes, and another's are not counted.
//
//go:noinline
func (w *udpAnswerer) unanswered(i int) {
	if w.in.Source(i).SameHost(&w.peer) && (w.in.Length(i) > 0 || !w.stop.Load()) {
		w.others++
	}
}

// empty counts what is left in the socket when the peer waits for nothing any
// more.
func (w *udpAnswerer) empty() error {
	for w.err == nil {
		n, errno := w.sock.ReceiveMessages(w.in, unix.MSG_DONTWAIT)
		if errno == unix.EAGAIN || errno == 0 && (n == 0 || w.in.Length(0) == 0) {
			break
		}
		if errno != 0 {
			w.failed("receive from", errno)
			continue
		}
		for i := range n {
			w.unanswered(i)
		}
	}
	return w.err
}

// answer sends the answers from to to-1 and returns how many.
//
//go:nosplit
func (w *udpAnswerer) answer(from, to int) (sent int) {
	for from < to {
		n, errno := w.sock.SendMessages(w.out, from, to, 0)
		if errno != 0 {
			n = 1
			w.sendErrors++
			w.failed("send on", errno)
		} else {
			sent += n
		}
		from += n
	}
	return sent
}

// failed deals with a call that failed. An answer that could not be sent the
// peer will take for lost.
//
//go:noinline
func (w *udpAnswerer) failed(verb string, errno unix.Errno) {
	if !transient(errno) {
		w.err = fmt.Errorf("%s a UDP socket: %w", verb, errno)
	}
}
