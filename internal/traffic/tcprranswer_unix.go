//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"io"
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// tcpRRRemote is the end of tcp_rr that answers.
type tcpRRRemote struct {
	cfg      Config
	listener *socket
	conn     atomic.Pointer[socket]
	peer     netip.AddrPort
	stop     atomic.Bool
	meter    meter
	request  []byte // a chunk, see maxChunk
	response []byte
	sizes    [2]int // of whole messages: request, response
	watch    watcher
}

func newTCPRRRemote(cfg Config) Engine { return &tcpRRRemote{cfg: cfg} }

func (e *tcpRRRemote) Prepare() (port uint16, err error) {
	e.sizes = [2]int{e.cfg.Test.RequestSize(), e.cfg.Test.ResponseSize()}
	e.request = make([]byte, min(e.sizes[0], maxChunk))
	e.response = make([]byte, min(e.sizes[1], maxChunk))
	e.meter = meterOf(e.cfg)
	if err := e.watch.prepare(&e.cfg); err != nil {
		return 0, err
	}
	e.listener, port, err = listenTCP(e.cfg)
	return port, err
}

func (e *tcpRRRemote) Arm(peer netip.AddrPort) error {
	e.peer = peer
	return checkPeer(e.cfg.Addr, peer)
}

func (e *tcpRRRemote) Run() (result.End, error) {
	conn, err := e.listener.accept(e.peer, e.stop.Load, 0)
	if err != nil {
		return result.End{}, err
	}
	if conn != nil {
		e.conn.Store(conn)
		if e.stop.Load() { // and Stop may not have seen the connection
			e.Stop()
		}
		conn.lasts(&e.cfg)
		// The local end hangs up when it has finished.
		err := conn.setConnOptions(e.cfg, true)
		if err == nil {
			err = e.watchConn(conn)
		}
		if err == nil {
			err = e.loop(conn)
		}
		conn.shutdown(unix.SHUT_RDWR)
		if !errors.Is(err, io.EOF) && !errors.Is(err, errOver) {
			return result.End{}, err
		}
	}
	e.meter.silence(sys.Nanotime())
	end := e.meter.receiverResult(e.listener.warnings)
	end.Seen = e.watch.seen()
	return end, nil
}

// watchConn watches the connection, whose peer's port is known only now.
func (e *tcpRRRemote) watchConn(conn *socket) error {
	sa, err := unix.Getpeername(int(conn.Sock))
	if err != nil {
		return nil // it is gone: the loop says why
	}
	return e.watch.arm(conn, addrPort(sa))
}

// loop answers until the connection ends or Stop.
func (e *tcpRRRemote) loop(conn *socket) error {
	sock := conn.Sock
	e.watch.start(sys.Nanotime())
	for {
		watched := e.watch.due
		var n int
		var errno unix.Errno
		if watched {
			n, errno = e.watch.recv(sock, e.request)
		} else {
			n, errno = sock.Recv(e.request, 0)
		}
		if n != e.sizes[0] {
			if err := conn.receiveRest(e.request, n, e.sizes[0], errno, e.stop.Load); err != nil {
				return err
			}
		}
		if watched {
			e.watch.returned()
			e.watch.calls()
			n, errno = e.watch.send(sock, e.response, unix.MSG_NOSIGNAL)
		} else {
			n, errno = sock.Send(e.response, unix.MSG_NOSIGNAL)
		}
		if n != e.sizes[1] {
			if err := conn.sendRest(e.response, n, e.sizes[1], errno, e.stop.Load); err != nil {
				return err
			}
		}
		now := sys.Nanotime()
		e.watch.answered(0, 0)
		if e.meter.event(1, e.sizes[0]+e.sizes[1], now) {
			e.watch.turn(e.meter.phase, now)
		}
		if e.stop.Load() {
			return errOver
		}
	}
}

func (e *tcpRRRemote) Stop() {
	e.stop.Store(true)
	if conn := e.conn.Load(); conn != nil {
		conn.shutdown(unix.SHUT_RD)
	}
}

func (e *tcpRRRemote) Intervals() *Intervals { return e.meter.parts }

func (e *tcpRRRemote) Close() error {
	return errors.Join(e.watch.close(), e.conn.Load().close(), e.listener.close())
}
