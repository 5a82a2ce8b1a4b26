package ctl

import (
	"net"
	"sync"
	"time"
)

// maxPatience is how many times longer than usual a peer may be silent while
// a trial runs.
const maxPatience = 4

// tcpConn is a control connection over TCP.
//
// A trial may fill the path to the brim, and then the kernel's probes are
// lost like everything else. So, from a trial on, its length is added to the
// time for which the other host may be silent, up to a limit. That is not
// taken back when the trial is over: the connection may not have had a sign of
// life as yet.
type tcpConn struct {
	net.Conn
	dead time.Duration // how long the peer may be silent

	mu    sync.Mutex
	extra time.Duration
}

// expect tells that a trial of that length is going to run.
func (c *tcpConn) expect(length time.Duration) {
	length = min(length, maxPatience*c.dead)
	c.mu.Lock()
	defer c.mu.Unlock()
	if length <= c.extra {
		return
	}
	c.extra = length
	raw, err := tcpOf(c.Conn).SyscallConn()
	if err != nil {
		return
	}
	// It fails only on a connection that has ended, as its users will see.
	_ = raw.Control(func(fd uintptr) { _ = setUserTimeout(int(fd), c.dead+c.extra) })
}

// expecting is a connection that can be told of a trial.
type expecting interface{ expect(length time.Duration) }

// tcpOf is the TCP connection below what was put around it.
func tcpOf(c net.Conn) *net.TCPConn {
	for {
		switch inner := c.(type) {
		case *net.TCPConn:
			return inner
		case *prefixed:
			c = inner.Conn
		case *listening:
			c = inner.Conn
		case interface{ NetConn() net.Conn }: // tls.Conn
			c = inner.NetConn()
		default:
			return nil
		}
	}
}

// tcpListener hands out tcpConns.
type tcpListener struct {
	net.Listener
	dead time.Duration
}

func (l tcpListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tcpConn{Conn: c, dead: l.dead}, nil
}

// pool is the connections of one client, or of one session at the agent, that
// are told of its trials.
type pool struct {
	mu     sync.Mutex
	conns  map[net.Conn]bool
	length time.Duration // of the longest trial so far
}

// add makes a connection one of the pool's.
func (p *pool) add(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[net.Conn]bool{}
	}
	p.conns[c] = true
	if e, ok := c.(expecting); ok && p.length > 0 {
		e.expect(p.length)
	}
}

func (p *pool) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// expect tells every connection of a trial.
func (p *pool) expect(length time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.length = max(p.length, length)
	for c := range p.conns {
		if e, ok := c.(expecting); ok {
			e.expect(p.length)
		}
	}
}

// pooledConn leaves its pool when it closes.
type pooledConn struct {
	net.Conn
	pool *pool
}

func (c pooledConn) Close() error {
	c.pool.remove(c.Conn)
	return c.Conn.Close()
}
