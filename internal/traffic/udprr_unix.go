//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// udpRRLocal is the end of udp_rr that asks. The first bytes of each message,
// as many as both directions have, at most 8, are the request's number.
type udpRRLocal struct {
	cfg      Config
	exchange exchange
}

func newUDPRRLocal(cfg Config) Engine { return &udpRRLocal{cfg: cfg} }

func (e *udpRRLocal) Prepare() (port uint16, err error) {
	x := &e.exchange
	if err := x.watch.prepare(&e.cfg); err != nil {
		return 0, err
	}
	if x.sock, port, err = openUDP(e.cfg); err != nil {
		return 0, err
	}
	request, response := e.cfg.Test.RequestSize(), e.cfg.Test.ResponseSize()
	x.request = make([]byte, request)
	x.answer = make([]byte, response+1)
	x.answerSize = response
	x.width = rrNumberWidth(e.cfg)
	x.checksumAt = -1
	x.payload = request + response
	x.meter = meterOf(e.cfg)
	return port, nil
}

// openUDPAt makes a UDP socket that is bound to the configuration's port.
func openUDPAt(cfg Config) (*socket, uint16, error) {
	s, err := openSocket(cfg, unix.SOCK_DGRAM, unix.IPPROTO_UDP, "UDP socket")
	if err != nil {
		return nil, 0, err
	}
	port, err := s.bind(cfg.Addr, cfg.Port)
	if err != nil {
		s.close()
		return nil, 0, err
	}
	return s, port, nil
}

func rrNumberWidth(cfg Config) int {
	return min(cfg.Test.RequestSize(), cfg.Test.ResponseSize(), maxSequence)
}

func (e *udpRRLocal) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	x := &e.exchange
	if err := x.sock.join(&e.cfg, peer); err != nil {
		return err
	}
	x.sock.watchDrops()
	return x.watch.arm(x.sock, peer)
}

func (e *udpRRLocal) Run() (result.End, error) {
	x := &e.exchange
	end, err := x.run()
	if err == nil {
		countAll(end.Counts, x.sentAll(), x.receivedAll(), x.sock)
	}
	return end, err
}

func (e *udpRRLocal) Stop() {}

func (e *udpRRLocal) Intervals() *Intervals { return e.exchange.meter.parts }

func (e *udpRRLocal) Close() error {
	return errors.Join(e.exchange.watch.close(), e.exchange.sock.close())
}

// udpRRRemote is the end of udp_rr that answers, each request with its number.
type udpRRRemote struct {
	cfg        Config
	sock       *socket
	stop       atomic.Bool
	meter      meter
	request    []byte
	answer     []byte
	width      int
	payload    int
	sendErrors int64
	others     int64 // datagrams of the whole trial that were not to be answered
	watch      watcher
}

func newUDPRRRemote(cfg Config) Engine { return &udpRRRemote{cfg: cfg} }

func (e *udpRRRemote) Prepare() (port uint16, err error) {
	if err := e.watch.prepare(&e.cfg); err != nil {
		return 0, err
	}
	if e.sock, port, err = openUDP(e.cfg); err != nil {
		return 0, err
	}
	e.request = make([]byte, e.cfg.Test.RequestSize())
	e.answer = make([]byte, e.cfg.Test.ResponseSize())
	e.width = rrNumberWidth(e.cfg)
	e.payload = len(e.request) + len(e.answer)
	e.meter = meterOf(e.cfg)
	return port, nil
}

func (e *udpRRRemote) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := e.sock.join(&e.cfg, peer); err != nil {
		return err
	}
	e.sock.watchDrops()
	return e.watch.arm(e.sock, peer)
}

func (e *udpRRRemote) Run() (result.End, error) {
	err := e.loop()
	if err == nil {
		err = e.empty()
	}
	if err != nil {
		return result.End{}, err
	}
	e.meter.silence(sys.Nanotime())
	end := e.meter.receiverResult(e.sock.warnings)
	end.Seen = e.watch.seen()
	end.Counts = map[string]int64{CountSendErrors: e.sendErrors}
	answered := e.meter.messages
	countAll(end.Counts, answered, answered+e.sendErrors+e.others, e.sock)
	return end, nil
}

// loop answers until Stop. What is not needed for the answer comes after it,
// while the peer is at work.
func (e *udpRRRemote) loop() error {
	sock := e.sock.Sock
	e.watch.start(sys.Nanotime())
	for !e.stop.Load() {
		watched := e.watch.due
		var n int
		var errno unix.Errno
		if watched {
			n, errno = e.watch.recv(sock, e.request)
			e.watch.returned()
		} else {
			n, errno = sock.Recv(e.request, 0)
		}
		if errno != 0 || n < e.width {
			if err := e.unanswered(n, errno); err != nil {
				return err
			}
			continue
		}
		copy(e.answer[:e.width], e.request[:e.width])
		if watched {
			e.watch.calls()
			_, errno = e.watch.send(sock, e.answer, 0)
		} else {
			_, errno = sock.Send(e.answer, 0)
		}
		if errno != 0 {
			if err := e.unsent(errno); err != nil {
				return err
			}
			continue
		}
		now := sys.Nanotime()
		e.watch.answered(getSequence(e.request[:e.width]), e.width)
		if e.meter.event(1, e.payload, now) {
			e.watch.turn(e.meter.phase, now)
		}
	}
	return nil
}

// unanswered deals with a receive call that brought no request: Stop ends one
// with no bytes.
//
//go:noinline
func (e *udpRRRemote) unanswered(n int, errno unix.Errno) error {
	switch {
	case errno != 0 && !transient(errno):
		return e.sock.failed("receive from", errno)
	case errno == 0 && (n > 0 || !e.stop.Load()):
		e.others++
	}
	return nil
}

// empty counts what is left in the socket when the peer waits for nothing any
// more.
func (e *udpRRRemote) empty() error {
	for {
		n, errno := e.sock.Recv(e.request, unix.MSG_DONTWAIT)
		if errno == unix.EAGAIN || errno == 0 && n == 0 {
			return nil
		}
		if err := e.unanswered(n, errno); err != nil {
			return err
		}
	}
}

// unsent deals with an answer that could not be sent: the peer will take it
// for lost.
//
//go:noinline
func (e *udpRRRemote) unsent(errno unix.Errno) error {
	if !transient(errno) {
		return e.sock.failed("send on", errno)
	}
	e.sendErrors++
	return nil
}

func (e *udpRRRemote) Stop() {
	e.stop.Store(true)
	e.sock.shutdown(unix.SHUT_RD)
}

func (e *udpRRRemote) Intervals() *Intervals { return e.meter.parts }

func (e *udpRRRemote) Close() error { return errors.Join(e.watch.close(), e.sock.close()) }
