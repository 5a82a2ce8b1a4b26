package ctl

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxPending is how many connections may be under way to proving that they
// come from a client. When one more comes, the oldest of the address that has
// most of them is closed: silence, however much of it, keeps nobody out.
const maxPending = 64

// gate is a listener that hands out connections only when they have proved
// that a client is behind them.
type gate struct {
	net.Listener
	cfg     *tls.Config // nil: insecure
	refused func(net.Addr, error)

	admitted chan net.Conn
	closed   chan struct{} // when Close is called
	failed   chan struct{} // when nothing more will be accepted
	err      error         // why; set before failed closes
	once     sync.Once
	work     sync.WaitGroup

	mu      sync.Mutex
	pending []pending // the oldest first
}

// pending is a connection of which nothing is known yet.
type pending struct {
	conn net.Conn
	from netip.Prefix
}

var errEvicted = errors.New("it was silent, and others came")

func newGate(l net.Listener, cfg *tls.Config, refused func(net.Addr, error)) *gate {
	if refused == nil {
		refused = func(net.Addr, error) {}
	}
	g := &gate{
		Listener: l,
		cfg:      cfg,
		refused:  refused,
		admitted: make(chan net.Conn),
		closed:   make(chan struct{}),
		failed:   make(chan struct{}),
	}
	g.work.Go(g.take)
	return g
}

// Accept returns the next client's connection.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.admitted:
		return c, nil
	case <-g.failed:
		return nil, g.err
	}
}

// Close stops listening and gives up the connections that were not handed
// out. It returns when all of that is gone.
func (g *gate) Close() error {
	var err error
	g.once.Do(func() {
		close(g.closed)
		err = g.Listener.Close()
		g.mu.Lock()
		for _, p := range g.pending {
			p.conn.Close()
		}
		g.mu.Unlock()
	})
	g.work.Wait()
	return err
}

// take accepts connections until the listener closes.
func (g *gate) take() {
	defer close(g.failed)
	for wait := time.Duration(0); ; {
		conn, err := g.Listener.Accept()
		switch {
		case err == nil:
			wait = 0
			g.begin(conn)
		case passing(err):
			// No descriptors or no memory: what can be given up is, and the
			// rest may free some.
			g.evict(0)
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			select {
			case <-time.After(wait):
			case <-g.closed:
			}
		default:
			g.err = err
			return
		}
	}
}

// passing says that accept(2) failed for a reason that may go away, or that
// was only about the connection.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// begin has the connection prove itself in a goroutine of its own.
func (g *gate) begin(conn net.Conn) {
	g.evict(maxPending - 1)
	g.mu.Lock()
	g.pending = append(g.pending, pending{conn, source(conn.RemoteAddr())})
	g.mu.Unlock()
	select {
	case <-g.closed: // and Close may not have seen this one
		conn.Close()
	default:
	}
	g.work.Go(func() { g.prove(conn) })
}

func (g *gate) prove(conn net.Conn) {
	err := conn.SetDeadline(time.Now().Add(greetBound))
	var admitted net.Conn
	if err == nil {
		admitted, err = admit(conn, g.cfg)
	}
	evicted := !g.forget(conn)
	if err == nil && !evicted {
		err = conn.SetDeadline(time.Time{})
	}
	if err == nil && !evicted {
		select {
		case g.admitted <- admitted:
			return
		case <-g.closed:
		}
	}
	conn.Close()
	select {
	case <-g.closed:
		return
	default:
	}
	if evicted {
		err = errEvicted
	}
	g.refused(conn.RemoteAddr(), err)
}

// forget takes a connection from the list; false says that it was not there.
func (g *gate) forget(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.pending, func(p pending) bool { return p.conn == conn })
	if i < 0 {
		return false
	}
	g.pending = slices.Delete(g.pending, i, i+1)
	return true
}

// evict closes pending connections until there are no more than that many.
func (g *gate) evict(most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.pending) > most {
		i := victim(g.pending)
		g.pending[i].conn.Close()
		g.pending = slices.Delete(g.pending, i, i+1)
	}
}

// victim chooses the connection to give up: the oldest of the source that has
// most of them, and of several such sources the one that came first.
func victim(all []pending) int {
	count := map[netip.Prefix]int{}
	for _, p := range all {
		count[p.from]++
	}
	most := slices.MaxFunc(all, func(a, b pending) int { return cmp.Compare(count[a.from], count[b.from]) })
	return slices.IndexFunc(all, func(p pending) bool { return count[p.from] == count[most.from] })
}

// source is who may be behind an address: an IPv4 host, or an IPv6 network,
// since there a host can have as many addresses as it likes.
func source(a net.Addr) netip.Prefix {
	ip := addrPort(a).Addr().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no IP address: all of a kind
	}
	return p
}
