//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"
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

// udpSender is the local end of udp_stream.
type udpSender struct {
	cfg        Config
	method     datagramSender
	did        methodWindow
	sock       *socket
	meter      meter
	mark       streamMark
	sendErrors int64 // of the window
}

func newUDPSender(cfg Config) Engine { return &udpSender{cfg: cfg} }

func (e *udpSender) Prepare() (port uint16, err error) {
	row, err := sendMethodOf(e.cfg)
	if err != nil {
		return 0, err
	}
	if e.sock, port, err = openUDP(e.cfg); err != nil {
		return 0, err
	}
	e.mark = newStreamMark(e.cfg.Test.Params.Size)
	e.meter = meterOf(e.cfg)
	e.method, err = row.datagram(e.sock, e.cfg)
	return port, err
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
	return e.sock.connect(peer)
}

func (e *udpSender) Run() (result.End, error) {
	if err := e.loop(); err != nil {
		return result.End{}, err
	}
	if err := e.method.finish(finishTime); err != nil {
		return result.End{}, err
	}
	end := e.meter.result(result.Local)
	end.Counts = map[string]int64{CountSent: end.Messages, CountSentAll: e.meter.messages, CountSendErrors: e.sendErrors}
	e.did.sendCounts(end.Counts)
	end.Warnings = e.sock.warnings
	return end, nil
}

// loop is the measured part. The datagrams that are sent while the window is
// open are the ones that it counts, and they carry its mark.
func (e *udpSender) loop() error {
	method, stats, size := e.method, e.method.stats(), e.cfg.Test.Params.Size
	now := sys.Nanotime()
	if e.meter.tick(now) {
		e.did.turned(e.meter.phase, stats)
	}
	for seq := uint64(0); e.meter.phase != closed || now < e.meter.end.at+int64(coolTime); {
		inWindow := e.meter.phase == open
		datagrams := method.batch()
		for i, d := range datagrams {
			if inWindow {
				e.mark.put(d, seq+uint64(i))
			} else {
				e.mark.putOutside(d)
			}
		}
		n, errno := method.send(len(datagrams))
		now = sys.Nanotime()
		if e.meter.event(n, n*size, now) {
			e.did.turned(e.meter.phase, stats)
		}
		if inWindow {
			seq += uint64(n)
		}
		if errno != 0 {
			if err := e.refused(errno, inWindow); err != nil {
				return err
			}
		}
	}
	return nil
}

// refused deals with a datagram that the kernel did not take. The pause lets a
// full queue drain; a wait for room in the socket's buffer (EAGAIN) was one.
//
//go:noinline
func (e *udpSender) refused(errno unix.Errno, inWindow bool) error {
	if !transient(errno) {
		return fmt.Errorf("%w (%d bytes)", e.sock.failed("send on", errno), e.cfg.Test.Params.Size)
	}
	if inWindow {
		e.sendErrors++
	}
	if errno != unix.EAGAIN {
		pause := unix.NsecToTimespec(int64(backOff))
		unix.Nanosleep(&pause, nil) // ending early does no harm
	}
	return nil
}

func (e *udpSender) Stop() {}

func (e *udpSender) Intervals() *Intervals { return e.meter.parts }

func (e *udpSender) Close() error { return errors.Join(closeMethod(e.method), e.sock.close()) }
