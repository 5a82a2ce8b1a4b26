//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// coolTime is how long a sender goes on after its window, so that the
// receiver's window, which may have begun later, is full to its end.
const coolTime = 20 * time.Millisecond

// finishTime is how long the kernel may take to finish what it was given.
const finishTime = time.Second

// backOff is the pause after a datagram that the kernel refused to send.
const backOff = 100 * time.Microsecond

// udpSender is the local end of udp_stream, or one thread of it.
type udpSender struct {
	cfg        Config
	method     datagramSender
	aim        aimedSender // the method if it has several flows to serve
	did        methodWindow
	sock       *socket // the first flow's
	flows      []udpFlow
	meter      meter
	mark       streamMark
	sendErrors int64       // of the window
	stop       atomic.Bool // another thread has failed
	pace       pacer       // of an open loop
	slots      [2]int64    // of pace that had passed at the window's two ends
}

// udpFlow is a socket with the number of datagrams that it has sent.
type udpFlow struct {
	sock *socket
	seq  uint64
}

// newUDPSender returns the sender of one flow.
func newUDPSender(cfg Config) Engine { return &udpSender{cfg: cfg} }

func (e *udpSender) Prepare() (port uint16, err error) {
	s, port, err := openUDP(e.cfg)
	if err != nil {
		return 0, err
	}
	return port, e.prepare([]*socket{s})
}

// prepare takes the sockets of the flows, which are the sender's from then on.
func (e *udpSender) prepare(sockets []*socket) error {
	e.sock = sockets[0]
	for _, s := range sockets {
		e.flows = append(e.flows, udpFlow{sock: s})
	}
	e.mark = newStreamMark(e.cfg.Test.Params.Size)
	e.meter = meterOf(e.cfg)
	row, err := sendMethodOf(e.cfg)
	if err != nil {
		return err
	}
	if e.method, err = row.datagram(e.sock, e.cfg); err != nil || len(sockets) == 1 {
		return err
	}
	return e.share(row.name)
}

// makeBuffers returns buffers of a size, all of whose memory has been written
// once.
func makeBuffers(n, size int) [][]byte {
	all := make([]byte, n*size)
	for i := range all {
		all[i] = byte(i)
	}
	buffers := make([][]byte, n)
	for i := range buffers {
		buffers[i] = all[i*size:][:size:size]
	}
	return buffers
}

func (e *udpSender) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	for _, f := range e.flows {
		if err := f.sock.join(&e.cfg, peer); err != nil {
			return err
		}
	}
	return e.fits()
}

// pathBound is a method that not every path carries.
type pathBound interface {
	// fits says, of a socket that is connected, why its path does not carry
	// datagrams of the test's size.
	fits() error
}

func (e *udpSender) fits() error {
	if m, ok := e.method.(pathBound); ok {
		return m.fits()
	}
	return nil
}

func (e *udpSender) Run() (result.End, error) {
	loop := e.loop
	if e.cfg.Test.OpenLoop() {
		loop = e.pacedLoop
	}
	if err := loop(); err != nil {
		return result.End{}, err
	}
	if err := e.method.finish(finishTime); err != nil {
		return result.End{}, err
	}
	end := e.meter.result(result.Local)
	end.Counts = map[string]int64{CountSent: end.Messages, CountSentAll: e.meter.messages, CountSendErrors: e.sendErrors}
	e.did.sendCounts(end.Counts)
	e.countSlots(&end)
	end.Warnings = append(e.sock.warnings, pacingIgnored(e.cfg.Test, len(e.flows), end)...)
	return end, nil
}

// loop is the measured part: a batch of each flow in turn, as fast as it can.
// The datagrams that are sent while the window is open are the ones that it
// counts, and they carry its mark.
func (e *udpSender) loop() error {
	method, now := e.method, sys.Nanotime()
	e.passed(now)
	for i := 0; !e.over(now, coolTime); {
		f := &e.flows[i]
		if i++; i == len(e.flows) {
			i = 0
		}
		if e.aim != nil {
			e.aim.aim(f.sock)
		}
		inWindow := e.meter.phase == open
		datagrams := method.batch()
		datagrams = datagrams[:e.wanted(len(datagrams))]
		e.fill(datagrams, f.seq+1, inWindow)
		n, errno := method.send(len(datagrams))
		now = sys.Nanotime()
		e.sent(n, now)
		f.seq += uint64(n)
		if errno != 0 {
			if err := e.refused(errno, inWindow); err != nil {
				return err
			}
		}
	}
	return nil
}

// over says that the window is, and what follows it.
//
//go:nosplit
func (e *udpSender) over(now int64, cool time.Duration) bool {
	return e.meter.phase == closed && now >= e.meter.end.at+int64(cool) || e.stop.Load()
}

// wanted is how many of n datagrams are to be sent, 1 and up: no more than a
// window has left that ends with a number of them, or of bytes.
//
//go:nosplit
func (e *udpSender) wanted(n int) int {
	m := &e.meter
	if m.phase != open || !m.limited {
		return n
	}
	most := int64(n)
	messages, bytes := m.left()
	if m.quota.messages > 0 {
		most = min(most, messages)
	}
	if m.quota.bytes > 0 {
		size := int64(e.cfg.Test.Params.Size)
		most = min(most, (bytes+size-1)/size)
	}
	return int(max(most, 1))
}

// fill marks datagrams, the first of them with number seq.
//
//go:nosplit
func (e *udpSender) fill(datagrams [][]byte, seq uint64, inWindow bool) {
	for i, d := range datagrams {
		if inWindow {
			e.mark.put(d, seq+uint64(i))
		} else {
			e.mark.putOutside(d, seq+uint64(i))
		}
	}
}

// sent counts datagrams that the kernel took.
//
//go:nosplit
func (e *udpSender) sent(n int, now int64) {
	if e.meter.event(n, n*e.cfg.Test.Params.Size, now) {
		e.turned()
	}
}

// passed notes that time has passed, and no more.
//
//go:nosplit
func (e *udpSender) passed(now int64) {
	if e.meter.tick(now) {
		e.turned()
	}
}

// turned takes what is counted where the window begins and ends.
//
//go:noinline
func (e *udpSender) turned() {
	e.did.turned(e.meter.phase, e.method.stats())
	switch e.meter.phase {
	case open:
		e.slots[0] = e.pace.passed()
	case closed:
		e.slots[1] = e.pace.passed()
	}
}

// refused deals with a datagram that the kernel did not take. The pause lets a
// full queue drain; a wait for room in the socket's buffer (EAGAIN) was one.
//
//go:noinline
func (e *udpSender) refused(errno unix.Errno, inWindow bool) error {
	if !transient(errno) {
		if err := e.fits(); err != nil { // the path has changed
			return err
		}
		return fmt.Errorf("%w (%d bytes)", e.sock.failed("send on", errno), e.cfg.Test.Params.Size)
	}
	if inWindow {
		e.sendErrors++
	}
	if errno != unix.EAGAIN {
		sys.SleepUntil(sys.Nanotime() + int64(backOff)) // ending early does no harm
	}
	return nil
}

func (e *udpSender) Stop() {}

func (e *udpSender) Intervals() *Intervals { return e.meter.parts }

func (e *udpSender) Close() error {
	err := closeMethod(e.method)
	for _, f := range e.flows {
		err = errors.Join(err, f.sock.close())
	}
	return err
}
