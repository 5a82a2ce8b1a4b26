package traffic

import (
	"fmt"
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// accepting takes the connections of a remote end's flows in while the local
// end makes them, and has each thread's epoll set watch its part of them: the
// ith is flow i/threads of thread i%threads.
type accepting struct {
	cfg      Config
	listener *socket
	peer     netip.Addr
	sets     []sys.Epoll
	stop     atomic.Bool   // also the threads'
	done     chan struct{} // closed when no more are taken in

	conns []*socket // until done the accepting thread's
	err   error
}

func (a *accepting) start() {
	a.done = make(chan struct{})
	go func() {
		defer close(a.done)
		if a.err = a.all(); a.err != nil {
			a.stop.Store(true)
		}
	}()
}

// end has no more connections taken in, and returns when that is so.
func (a *accepting) end() error {
	if a.done == nil {
		return nil
	}
	a.stop.Store(true)
	<-a.done
	return a.err
}

func (a *accepting) all() error {
	for len(a.conns) < a.cfg.Test.Flows() && !a.stop.Load() {
		if err := a.one(); err != nil {
			return err
		}
	}
	return nil
}

// one waits for a connection, at most as long as the listener's own timeout.
// What does not come from the peer is closed.
func (a *accepting) one() error {
	fd, sa, err := unix.Accept4(int(a.listener.Sock), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	if err != nil {
		if errno, ok := err.(unix.Errno); ok && (transient(errno) || errno == unix.ECONNABORTED || errno == unix.EPROTO) {
			return nil
		}
		return fmt.Errorf("accept flow %d on a %s: %w", len(a.conns)+1, a.listener.what, err)
	}
	conn := &socket{Sock: sys.Sock(fd), what: a.listener.what}
	if addrPort(sa).Addr() != a.peer {
		return conn.close()
	}
	i := len(a.conns)
	a.conns = append(a.conns, conn)
	conn.lasts(&a.cfg)
	if err := conn.setConnOptions(a.cfg, true); err != nil {
		return err
	}
	return a.sets[i%len(a.sets)].Add(fd, i/len(a.sets), tcpEvents)
}
