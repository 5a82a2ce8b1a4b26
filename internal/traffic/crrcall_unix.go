//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// crrPause is how long a thread waits after a connection that failed, and for
// a port to become free.
const crrPause = time.Millisecond

// crrCaller is one thread of tcp_crr's local end.
type crrCaller struct {
	engine   *crrLocal
	family   int
	meter    meter
	rtt      *hist.Hist // of the window
	request  []byte     // a chunk, see maxChunk
	response []byte
	sizes    [2]int // of whole messages: request, response

	conn    socket       // the present connection
	current atomic.Int32 // its descriptor, for the thread that cuts it off; -1 for none

	failed, retries int64 // of the window
	first           error // what the first one failed for
	unfinished      bool
}

func newCRRCaller(e *crrLocal) *crrCaller {
	test := e.cfg.Test
	c := &crrCaller{
		engine: e, family: family(e.cfg.Addr), meter: meterOf(e.cfg),
		sizes: [2]int{test.RequestSize(), test.ResponseSize()},
		conn:  socket{Sock: -1, what: "TCP connection"},
	}
	c.request = make([]byte, min(c.sizes[0], maxChunk))
	c.response = make([]byte, min(c.sizes[1], maxChunk))
	c.current.Store(-1)
	return c
}

// run carries one thread's part of the trial out.
func (c *crrCaller) run() (result.End, error) {
	c.rtt = hist.New()
	c.meter.time(c.rtt)
	err := c.loop(hist.New())
	if errors.Is(err, errOver) {
		c.unfinished = true
		// A window that began late may still be open.
		c.meter.stall(sys.Nanotime())
		c.meter.finish()
		c.meter.each.add(noAnswer)
	} else if err != nil {
		return result.End{}, err
	}
	end := c.meter.result(result.Local)
	end.RTT = c.rtt
	end.Counts = map[string]int64{
		CountSent:           end.Messages + c.failed,
		CountFailed:         c.failed,
		CountConnectRetries: c.retries,
	}
	if c.unfinished {
		end.Counts[CountSent]++
	}
	return end, nil
}

// loop is the measured part. A round trip is over when the connection's end has
// been seen; closing this end of it comes after. See exchange.loop.
func (c *crrCaller) loop(samples *hist.Hist) error {
	start := sys.Nanotime()
	if c.meter.tick(start); c.meter.phase == open {
		samples = c.begin()
	}
	for c.meter.phase != closed {
		before := c.meter.phase
		err := c.transact()
		now := sys.Nanotime()
		c.current.Store(-1)
		c.conn.Sock.Close()
		c.conn.Sock = -1
		if err == nil && now >= c.engine.end.Load() {
			err = errOver // the end that was seen is that of cutOff
		}
		if err == nil {
			samples.Record(now - start)
			c.meter.each.add(now - start)
			c.meter.event(1, c.sizes[0]+c.sizes[1], now)
		} else if err = c.broken(err); err != nil {
			return err
		}
		if c.meter.phase == open && before != open {
			samples = c.begin()
		}
		start = sys.Nanotime()
	}
	return nil
}

// transact makes a connection and has it carry a request and a response, up to
// its end.
//
//go:nosplit
func (c *crrCaller) transact() error {
	e := c.engine
	sock, errno := sys.NewSock(c.family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
	if errno != 0 {
		return c.unmade(errno)
	}
	c.conn.Sock = sock
	c.current.Store(int32(sock))
	if errno, option := e.options.apply(sock); errno != 0 {
		return c.refused(errno, option)
	}
	if e.bound {
		if errno = sock.Bind(&e.from); errno != 0 {
			return c.unconnected("bind", errno)
		}
	}
	if errno = sock.Connect(&e.peer); errno != 0 {
		return c.unconnected("connect", errno)
	}
	n, errno := sock.Send(c.request, unix.MSG_NOSIGNAL)
	if n != c.sizes[0] {
		if err := c.sendRest(n, errno); err != nil {
			return err
		}
	}
	n, errno = sock.Recv(c.response, 0)
	if n != c.sizes[1] {
		if err := c.receiveRest(n, errno); err != nil {
			return err
		}
	}
	if n, errno = sock.Recv(c.response, 0); n != 0 || errno != 0 {
		return c.noEnd(n, errno)
	}
	return nil
}

// begin starts the window's own counts and returns where its first round trip
// is recorded.
//
//go:noinline
func (c *crrCaller) begin() *hist.Hist {
	c.failed, c.retries = 0, 0
	return c.meter.samples(c.rtt)
}

// errNoPort is that no local port was free for a connection.
var errNoPort = errors.New("no local port is free")

// fatalError is what no other connection will do better.
type fatalError struct{ error }

//go:noinline
func (c *crrCaller) unmade(errno unix.Errno) error {
	return fatalError{fmt.Errorf("make a TCP socket: %w", errno)}
}

//go:noinline
func (c *crrCaller) refused(errno unix.Errno, o *socketOption) error {
	return fatalError{c.conn.refusedOption(o.name, o.shown, o.need, errno)}
}

// unconnected is why a connection did not come about.
//
//go:noinline
func (c *crrCaller) unconnected(call string, errno unix.Errno) error {
	if errno == unix.EADDRNOTAVAIL || errno == unix.EADDRINUSE {
		return errNoPort
	}
	return fmt.Errorf("%s a %s to %v: %w", call, c.conn.what, c.engine.peerName, errno)
}

//go:noinline
func (c *crrCaller) sendRest(n int, errno unix.Errno) error {
	err := c.conn.sendRest(c.request, n, c.sizes[0], errno, c.engine.over)
	if err == io.EOF {
		return errBroken("request")
	}
	return err
}

//go:noinline
func (c *crrCaller) receiveRest(n int, errno unix.Errno) error {
	err := c.conn.receiveRest(c.response, n, c.sizes[1], errno, c.engine.over)
	if err == io.EOF {
		return errBroken("response")
	}
	return err
}

func errBroken(what string) error {
	return fmt.Errorf("the peer ended a connection before the %s was through", what)
}

// noEnd deals with what came where the connection's end was due.
//
//go:noinline
func (c *crrCaller) noEnd(n int, errno unix.Errno) error {
	for errno == unix.EINTR || errno == unix.EAGAIN {
		if c.engine.over() {
			return errOver
		}
		n, errno = c.conn.Recv(c.response, 0)
	}
	switch {
	case errno != 0:
		return c.conn.failed("receive the end of", errno)
	case n != 0:
		return fmt.Errorf("the peer sent more than the response of %d bytes", c.sizes[1])
	}
	return nil
}

// broken deals with a connection that failed. It returns an error where there
// is no use in making another.
//
//go:noinline
func (c *crrCaller) broken(err error) error {
	var fatal fatalError
	switch {
	case errors.As(err, &fatal):
		return fatal.error
	case c.engine.over():
		return errOver
	case err == errNoPort:
		c.retries++
	default:
		c.failed++
		c.meter.each.add(noAnswer)
		if c.first == nil {
			c.first = err
		}
	}
	now := sys.Nanotime()
	sys.SleepUntil(now + int64(crrPause))
	c.meter.stall(sys.Nanotime())
	return nil
}
