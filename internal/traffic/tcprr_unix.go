//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// unfinishedTime is how long after its window a round trip on TCP is waited
// for: a few of the shortest retransmission timeouts.
const unfinishedTime = time.Second

// hangUpTime is how long a connection may take to empty and end.
const hangUpTime = time.Second

// tcpRRLocal is the end of tcp_rr that asks. A request is sent whole before
// the response is read, and the remote end reads a request whole before it
// responds, so no size can block both.
type tcpRRLocal struct {
	cfg      Config
	sock     *socket
	meter    meter
	rtt      *hist.Hist // of the window
	request  []byte     // a chunk, see maxChunk
	response []byte
	sizes    [2]int // of whole messages: request, response
	end      int64  // when a round trip is waited for no longer
	watch    watcher
}

func newTCPRRLocal(cfg Config) Engine { return &tcpRRLocal{cfg: cfg} }

func (e *tcpRRLocal) Prepare() (port uint16, err error) {
	if err := e.watch.prepare(&e.cfg); err != nil {
		return 0, err
	}
	if e.sock, port, err = openTCP(e.cfg); err != nil {
		return 0, err
	}
	e.sizes = [2]int{e.cfg.Test.RequestSize(), e.cfg.Test.ResponseSize()}
	e.request = make([]byte, min(e.sizes[0], maxChunk))
	e.response = make([]byte, min(e.sizes[1], maxChunk))
	e.meter = meterOf(e.cfg)
	return port, nil
}

func (e *tcpRRLocal) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := e.sock.dial(peer, connectTime); err != nil {
		return err
	}
	e.sock.lasts(&e.cfg)
	if err := e.sock.setConnOptions(e.cfg, true); err != nil {
		return err
	}
	return e.watch.arm(e.sock, peer)
}

func (e *tcpRRLocal) Run() (result.End, error) {
	e.rtt = hist.New()
	e.meter.time(e.rtt)
	start := sys.Nanotime()
	limit := e.cfg.Warmup + e.cfg.Window + unfinishedTime
	e.end = start + int64(limit)
	cancel := e.sock.cutOff(limit)
	err := e.loop(start, hist.New())
	cancel()
	unfinished := err != nil && e.over()
	switch {
	case unfinished:
		// A window that began late may still be open.
		e.meter.stall(sys.Nanotime())
		e.meter.finish()
		e.meter.each.add(noAnswer)
	case errors.Is(err, io.EOF):
		return result.End{}, fmt.Errorf("the peer closed the connection of %s during the trial", e.cfg.Test.Name)
	case err != nil:
		return result.End{}, err
	}
	seen := e.watch.seen()
	e.sock.hangUp(e.response, hangUpTime)
	end := e.meter.result(result.Local)
	end.RTT, end.Seen = e.rtt, seen
	end.Counts = map[string]int64{CountSent: end.Messages}
	end.Warnings = e.sock.warnings
	if unfinished {
		end.Counts[CountSent]++
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnUnfinished,
			Text:   fmt.Sprintf("a round trip of %s had not ended %v after the window", e.cfg.Test.Name, unfinishedTime),
			Advice: "its time is in no figure: look at retransmissions and at the link",
		})
	}
	return end, nil
}

// loop is the measured part; see exchange.loop.
func (e *tcpRRLocal) loop(start int64, samples *hist.Hist) error {
	sock := e.sock.Sock
	e.watch.start(start)
	if e.meter.tick(start); e.meter.phase == open {
		samples = e.meter.samples(e.rtt)
		e.watch.begin(start)
	}
	for e.meter.phase != closed {
		watched := e.watch.step()
		var n int
		var errno unix.Errno
		if watched {
			start = e.watch.open()
			n, errno = e.watch.send(sock, e.request, unix.MSG_NOSIGNAL)
		} else {
			n, errno = sock.Send(e.request, unix.MSG_NOSIGNAL)
		}
		if n != e.sizes[0] {
			if err := e.sock.sendRest(e.request, n, e.sizes[0], errno, e.over); err != nil {
				return err
			}
		}
		if watched {
			n, errno = e.watch.recv(sock, e.response)
		} else {
			n, errno = sock.Recv(e.response, 0)
		}
		if n != e.sizes[1] {
			if err := e.sock.receiveRest(e.response, n, e.sizes[1], errno, e.over); err != nil {
				return err
			}
		}
		now := sys.Nanotime()
		samples.Record(now - start)
		e.meter.each.add(now - start)
		if e.meter.event(1, e.sizes[0]+e.sizes[1], now) && e.meter.phase == open {
			samples = e.meter.samples(e.rtt)
			e.watch.begin(now)
		}
		if watched {
			now = e.watch.done(now, true)
		}
		start = max(now, e.meter.resume)
	}
	return nil
}

func (e *tcpRRLocal) over() bool { return sys.Nanotime() >= e.end }

func (e *tcpRRLocal) Stop() {}

func (e *tcpRRLocal) Intervals() *Intervals { return e.meter.parts }

func (e *tcpRRLocal) Close() error { return errors.Join(e.watch.close(), e.sock.close()) }
