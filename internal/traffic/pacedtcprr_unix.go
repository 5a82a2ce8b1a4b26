//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/unit"
)

// pacedTCPRR is the end of tcp_rr that asks at a fixed rate. It sends and
// receives without waiting in either, so that neither a large message nor a
// peer that doesn't read keeps it from the other.
type pacedTCPRR struct {
	tcpRRLocal
	pace    openLoop
	queue   dueQueue
	out     int  // bytes of the latest request that are still to be sent
	in      int  // bytes of the next response that have come
	stuck   bool // the socket has no room
	sending bool // slots are still to come
	overAt  int64
}

func newPacedTCPRR(cfg Config) Engine { return &pacedTCPRR{tcpRRLocal: tcpRRLocal{cfg: cfg}} }

func (e *pacedTCPRR) Prepare() (port uint16, err error) {
	if port, err = e.tcpRRLocal.Prepare(); err != nil {
		return 0, err
	}
	e.response = make([]byte, maxChunk) // many responses may come at once
	e.queue = newDueQueue()
	return port, nil
}

func (e *pacedTCPRR) Run() (result.End, error) {
	if err := sys.PreciseTimers(); err != nil {
		return result.End{}, err
	}
	e.pace = newOpenLoop(e.cfg.Test, &e.tcpRRLocal.meter, hist.New(), e.sizes[0]+e.sizes[1])
	if err := e.loop(); err != nil {
		return result.End{}, err
	}
	e.sock.hangUp(e.response, hangUpTime)
	unfinished := e.queue.len()
	for !e.queue.empty() {
		e.keep(e.queue.get(), noAnswer)
	}
	end := e.pace.result()
	end.Warnings = append(e.sock.warnings, e.pace.warnings()...)
	if unfinished > 0 {
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnUnfinished,
			Text:   fmt.Sprintf("%s of %s had not ended %v after the window", unit.Count(unfinished, "round trip"), e.cfg.Test.Name, unfinishedTime),
			Advice: "their time is in no figure: look at retransmissions and at the link, and whether the peer can keep the rate",
		})
	}
	return end, nil
}

// loop is the measured part; see pacedExchange.loop. The slots of the time in
// which a request can't be sent whole are missed, or caught up with.
func (e *pacedTCPRR) loop() error {
	sock := e.sock.Sock
	now := sys.Nanotime()
	e.pace.begin(now)
	for e.sending = true; ; now = sys.Nanotime() {
		if now >= e.pace.meter.limit {
			e.pace.turn(now)
		}
		due := e.pace.pacer.due(now)
		switch {
		case !e.pace.more(due, now):
			if due = never; e.over(now) {
				return nil
			}
		case due > now:
		case e.out > 0 || e.queue.full():
			due = never
		default:
			e.pace.use(due, now)
			e.queue.put(due)
			e.out = e.sizes[0]
			if due = e.pace.pacer.due(now); !e.pace.more(due, now) {
				due = never
			}
		}
		events := int16(unix.POLLIN)
		if e.out > 0 {
			if errno := e.send(); errno != 0 {
				return e.broken("send on", errno)
			}
			if now = sys.Nanotime(); e.stuck {
				events |= unix.POLLOUT
			} else if e.out > 0 {
				due = now // no wait before the rest
			}
		}
		ready, errno := e.pace.await(sock, events, now, due, e.until())
		n := 0
		if ready {
			n, errno = sock.Recv(e.response, unix.MSG_DONTWAIT)
		}
		switch {
		case ready && errno == 0:
			if now = sys.Nanotime(); now >= e.pace.meter.limit {
				e.pace.turn(now)
			}
			if !e.take(n, now) {
				return e.broken("receive from", 0)
			}
		case errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR:
			return e.broken("receive from", errno)
		}
	}
}

// send sends as much of the latest request as there is room for, a chunk at
// most.
//
//go:nosplit
func (e *pacedTCPRR) send() unix.Errno {
	n, errno := e.sock.Send(e.request[:min(e.out, len(e.request))], unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	e.stuck = errno == unix.EAGAIN
	switch {
	case errno == 0:
		e.out -= n
	case errno != unix.EAGAIN && errno != unix.EINTR:
		return errno
	}
	return 0
}

// take counts the responses that are whole with the n bytes that have come. It
// is false if the peer has closed, or sends what nobody has asked for.
//
//go:nosplit
func (e *pacedTCPRR) take(n int, now int64) bool {
	for e.in += n; e.in >= e.sizes[1]; e.in -= e.sizes[1] {
		if e.queue.empty() {
			return false
		}
		due := e.queue.get()
		e.keep(due, now-due)
		e.pace.answered(due, now)
	}
	return n > 0
}

// keep keeps a round trip of the request that was due then, if that is the
// window's.
//
//go:nosplit
func (e *pacedTCPRR) keep(due, ns int64) {
	if due >= e.pace.from {
		e.pace.meter.each.add(ns)
	}
}

// broken is the end of a connection during the trial.
//
//go:noinline
func (e *pacedTCPRR) broken(verb string, errno unix.Errno) error {
	switch {
	case errno == 0 && e.in >= e.sizes[1]:
		return fmt.Errorf("the peer of %s answers more than it was asked", e.cfg.Test.Name)
	case errno == 0 || errno == unix.EPIPE || errno == unix.ECONNRESET:
		return fmt.Errorf("the peer closed the connection of %s during the trial: %w", e.cfg.Test.Name, io.EOF)
	}
	return e.sock.failed(verb, errno)
}

// until is when there is something else to do than to send and to receive.
//
//go:nosplit
func (e *pacedTCPRR) until() int64 {
	if e.sending {
		return e.pace.meter.limit
	}
	return min(e.pace.meter.limit, e.overAt)
}

// over says, when no slots are left, whether nothing is outstanding any more,
// or for too long.
//
//go:noinline
func (e *pacedTCPRR) over(now int64) bool {
	if e.pace.meter.phase != closed {
		return false
	}
	if e.sending {
		e.sending = false
		e.overAt = now + int64(unfinishedTime)
	}
	return e.queue.empty() || now >= e.overAt
}
