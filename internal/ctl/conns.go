package ctl

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// maxConns is how many connections a server has at a time: a session needs
// two or three. Beyond that, one on which there is no call makes room.
const maxConns = 128

// conns follows a server's connections.
type conns struct {
	mu     sync.Mutex
	change sync.Cond
	open   int // all that the server has not done with
	// busy are those with a call that has begun and whose answer has not been
	// handed to the system as yet; rest are the others, the longest-resting
	// first.
	busy map[net.Conn]bool
	rest []net.Conn
}

func newConns() *conns {
	c := &conns{busy: map[net.Conn]bool{}}
	c.change.L = &c.mu
	return c
}

// connKey is where a request's context has its connection.
type connKey struct{}

// remember is for http.Server.ConnContext.
func (c *conns) remember(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// note is for http.Server.ConnState.
func (c *conns) note(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateNew:
		c.open++
		c.addResting(conn)
	case http.StateIdle:
		if c.busy[conn] {
			delete(c.busy, conn)
			c.addResting(conn)
		}
	case http.StateClosed, http.StateHijacked:
		c.open--
		delete(c.busy, conn)
		c.takeResting(conn)
	}
	c.change.Broadcast()
}

// following notes when a request has come in whole and is going to be
// answered.
func (c *conns) following(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := connOf(r.Context()); conn != nil {
			c.mu.Lock()
			c.takeResting(conn)
			c.busy[conn] = true
			c.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// addResting adds a connection to those without a call, and closes the one
// that has been there for longest if they are too many. The server notices
// that by itself. The caller holds mu.
func (c *conns) addResting(conn net.Conn) {
	c.rest = append(c.rest, conn)
	for len(c.busy)+len(c.rest) > maxConns && len(c.rest) > 0 {
		c.rest[0].Close()
		c.rest = slices.Delete(c.rest, 0, 1)
	}
}

func (c *conns) takeResting(conn net.Conn) {
	if i := slices.Index(c.rest, conn); i >= 0 {
		c.rest = slices.Delete(c.rest, i, i+1)
	}
}

// quiet returns when no call is under way, or when the time is up.
func (c *conns) quiet(limit time.Duration) {
	late := false
	timer := time.AfterFunc(limit, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.change.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !late && len(c.busy) > 0 {
		c.change.Wait()
	}
}

// gone returns when every connection has been closed.
func (c *conns) gone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open > 0 {
		c.change.Wait()
	}
}
