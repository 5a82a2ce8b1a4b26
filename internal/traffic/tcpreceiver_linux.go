package traffic

import (
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// tcpReceiver is the remote end of tcp_stream.
type tcpReceiver struct {
	cfg      Config
	method   streamMethod
	listener *socket
	peer     netip.AddrPort
	stop     atomic.Bool
	meter    meter
	buffer   []byte
	drain    drain
	ended    bool // the peer has closed
}

func newTCPReceiver(cfg Config) Engine { return &tcpReceiver{cfg: cfg, method: sendRecvStream} }

func (e *tcpReceiver) Prepare() (port uint16, err error) {
	e.buffer = makeBuffers(1, maxChunk)[0]
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
		if err := e.loop(conn); err != nil {
			return result.End{}, err
		}
	}
	return e.meter.receiverResult(e.listener.warnings), nil
}

// loop is the measured part: it receives to the end of the stream, or after
// Stop until nothing comes any more.
func (e *tcpReceiver) loop(conn *socket) error {
	sock, receive := conn.Sock, e.method.receive
	for !e.ended && (!e.stop.Load() || !e.drain.over()) {
		n, errno := receive(sock, e.buffer)
		if errno != 0 || n == 0 {
			if err := e.nothing(conn, errno); err != nil {
				return err
			}
			continue
		}
		e.meter.event(1, n, sys.Nanotime())
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
