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

// tcpReceiver is the remote end of tcp_stream.
type tcpReceiver struct {
	cfg      Config
	method   recvMethod
	did      methodWindow
	listener *socket
	peer     netip.AddrPort
	stop     atomic.Bool
	meter    meter
	drain    drain
	ended    bool // the peer has closed
}

func newTCPReceiver(cfg Config) Engine { return &tcpReceiver{cfg: cfg} }

func (e *tcpReceiver) Prepare() (port uint16, err error) {
	if e.method, err = recvMethodOf(e.cfg); err != nil {
		return 0, err
	}
	e.meter = meterOf(e.cfg)
	e.listener, port, err = listenTCP(e.cfg)
	return port, err
}

func (e *tcpReceiver) Arm(peer netip.AddrPort) error {
	e.peer = peer
	return checkPeer(e.cfg.Addr, peer)
}

func (e *tcpReceiver) Run() (result.End, error) {
	conn, err := e.listener.accept(e.peer, e.stop.Load, pollTime)
	if err != nil {
		return result.End{}, err
	}
	if conn != nil {
		defer conn.close()
		if err := errors.Join(conn.setConnOptions(e.cfg, false), e.receive(conn)); err != nil {
			return result.End{}, err
		}
	}
	end := e.meter.receiverResult(e.listener.warnings)
	end.Counts = map[string]int64{}
	e.did.recvCounts(end.Counts)
	return end, nil
}

// receive receives the stream of one connection.
func (e *tcpReceiver) receive(conn *socket) error {
	method, err := e.method.stream(conn, e.cfg)
	if err != nil {
		return err
	}
	err = e.loop(conn, method)
	if e.meter.phase == open { // the stream ended before the window
		e.did.turned(closed, method.stats())
	}
	return errors.Join(err, method.close())
}

// loop is the measured part: it receives to the end of the stream, or after
// Stop until nothing comes any more.
func (e *tcpReceiver) loop(conn *socket, method streamReceiver) error {
	stats := method.stats()
	for !e.ended && (!e.stop.Load() || !e.drain.over()) {
		n, errno := method.receive()
		if errno != 0 || n == 0 {
			if err := e.nothing(conn, errno); err != nil {
				return err
			}
			continue
		}
		if e.meter.event(1, n, sys.Nanotime()) {
			e.did.turned(e.meter.phase, stats)
		}
	}
	return nil
}

// nothing deals with a receive call that brought nothing.
//
//go:noinline
func (e *tcpReceiver) nothing(conn *socket, errno unix.Errno) error {
	switch errno {
	case 0, unix.ECONNRESET:
		e.ended = true
	case unix.EAGAIN:
		e.drain.quiet = true
		e.meter.silence(sys.Nanotime())
	case unix.EINTR:
	default:
		return conn.failed("receive from", errno)
	}
	return nil
}

func (e *tcpReceiver) Stop() { e.stop.Store(true) }

func (e *tcpReceiver) Intervals() *Intervals { return e.meter.parts }

func (e *tcpReceiver) Close() error { return e.listener.close() }
