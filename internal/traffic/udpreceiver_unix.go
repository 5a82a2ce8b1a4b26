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

// udpReceiver is the remote end of udp_stream with one flow, on a socket that
// is connected.
type udpReceiver struct {
	cfg     Config
	method  datagramReceiver
	did     methodWindow
	sock    *socket
	stop    atomic.Bool
	meter   meter
	mark    streamMark
	total   int64 // datagrams of the sender's window that came, with copies
	tracker tracker
	drain   drain
	naps    napper
	drops   [2]uint32 // of the socket, at the window's two ends
	noDrops bool      // the kernel does not tell
	// dropsBefore are the socket's drops before it had a peer.
	dropsBefore uint32
}

func newUDPReceiver(cfg Config) Engine { return &udpReceiver{cfg: cfg} }

func (e *udpReceiver) Prepare() (port uint16, err error) {
	row, err := recvMethodOf(e.cfg)
	if err != nil {
		return 0, err
	}
	if e.sock, port, err = openUDP(e.cfg); err != nil {
		return 0, err
	}
	e.mark = newStreamMark(e.cfg.Test.Params.Size)
	e.meter = meterOf(e.cfg)
	if err := e.sock.setTimeout(unix.SO_RCVTIMEO, pollTime); err != nil {
		return 0, err
	}
	if e.method, err = row.datagram(e.sock, e.cfg); err != nil {
		return port, err
	}
	e.naps = newNapper(e.sock, e.method, e.cfg)
	return port, nil
}

func (e *udpReceiver) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := e.sock.join(&e.cfg, peer); err != nil {
		return err
	}
	n, err := e.sock.Drops()
	e.dropsBefore, e.noDrops = n, err != nil
	return nil
}

func (e *udpReceiver) Run() (result.End, error) {
	if err := e.naps.begin(); err != nil {
		return result.End{}, err
	}
	if err := e.loop(); err != nil {
		return result.End{}, err
	}
	// A ring is given up by the thread that made it.
	end, err := e.end(), closeMethod(e.method)
	e.method = nil
	return end, err
}

// end is what the receiver counted.
func (e *udpReceiver) end() result.End {
	if e.meter.phase == open { // the traffic ended before the window
		e.countDrops(1)
		e.did.turned(closed, e.method.stats())
	}
	end := e.meter.receiverResult(e.sock.warnings)
	end.Counts = e.counts()
	return end
}

// counts are those of the window and of the whole trial, which is over.
func (e *udpReceiver) counts() map[string]int64 {
	counts := map[string]int64{CountTotal: e.total, CountReceivedAll: e.meter.messages}
	e.did.recvCounts(counts, e.meter.end.messages-e.meter.begin.messages)
	if e.mark.numbered() {
		window, all := &e.tracker.window, &e.tracker.all
		counts[CountUnique] = window.unique
		counts[CountDuplicates], counts[CountDuplicatesAll] = window.duplicates, all.duplicates
		counts[CountReordered], counts[CountReorderedAll] = window.reordered, all.reordered
	}
	if all, err := e.sock.Drops(); err == nil && !e.noDrops {
		counts[CountSocketDrops] = int64(e.drops[1] - e.drops[0]) // modulo 2^32, as the counter
		counts[CountSocketDropsAll] = int64(all - e.dropsBefore)
	}
	return counts
}

// loop is the measured part: it receives until Stop and then until nothing
// comes any more.
func (e *udpReceiver) loop() error {
	method := e.method
	for !e.stop.Load() || !e.drain.over() {
		n, errno := e.receive()
		if errno != 0 {
			if err := e.quiet(errno); err != nil {
				return err
			}
			continue
		}
		bytes := 0
		for i := range n {
			head, size := method.datagram(i)
			bytes += size
			if size >= e.mark.width {
				e.track(&e.tracker, head)
			}
		}
		if e.meter.event(n, bytes, sys.Nanotime()) {
			e.turned()
		}
	}
	return nil
}

// receive waits for datagrams, in the way that costs the least.
//
//go:nosplit
func (e *udpReceiver) receive() (int, unix.Errno) {
	if e.naps.method != nil {
		return e.naps.receive(e.meter.messages)
	}
	return e.method.receive()
}

// track takes note of a datagram's mark, with the tracker of its flow.
//
//go:nosplit
func (e *udpReceiver) track(t *tracker, datagram []byte) {
	low, inWindow := e.mark.get(datagram)
	if inWindow {
		e.total++
	} else if low == 0 {
		return
	}
	if e.mark.numbered() {
		t.add(e.mark.number(low, t.next), inWindow)
	}
}

// turned reads the socket's drop counter where the window begins and ends.
//
//go:noinline
func (e *udpReceiver) turned() {
	if e.meter.phase == open || !e.did.opened {
		e.countDrops(0)
	}
	if e.meter.phase == closed {
		e.countDrops(1)
	}
	e.did.turned(e.meter.phase, e.method.stats())
}

func (e *udpReceiver) countDrops(i int) {
	n, err := e.sock.Drops()
	e.drops[i] = n
	e.noDrops = e.noDrops || err != nil
}

// quiet deals with a receive call that brought nothing.
//
//go:noinline
func (e *udpReceiver) quiet(errno unix.Errno) error {
	if !transient(errno) {
		return e.sock.failed("receive from", errno)
	}
	if e.meter.silence(sys.Nanotime()) {
		e.turned()
	}
	if errno == unix.EAGAIN {
		e.drain.quiet = true
	}
	return nil
}

func (e *udpReceiver) Stop() { e.stop.Store(true) }

func (e *udpReceiver) Intervals() *Intervals { return e.meter.parts }

func (e *udpReceiver) Close() error { return errors.Join(closeMethod(e.method), e.sock.close()) }
