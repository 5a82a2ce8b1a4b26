//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// maxWrite is the largest write of tcp_stream: a larger message takes several.
const maxWrite = 1 << 20

// tcpSender is the local end of tcp_stream.
type tcpSender struct {
	cfg         Config
	method      streamSender
	did         methodWindow
	sock        *socket
	meter       meter
	retransmits [2]uint32 // of the connection, at the window's two ends
}

func newTCPSender(cfg Config) Engine { return &tcpSender{cfg: cfg} }

func (e *tcpSender) Prepare() (port uint16, err error) {
	row, err := sendMethodOf(e.cfg)
	if err != nil {
		return 0, err
	}
	if e.sock, port, err = openTCP(e.cfg); err != nil {
		return 0, err
	}
	e.meter = meterOf(e.cfg)
	e.method, err = row.stream(e.sock, e.cfg)
	return port, err
}

func (e *tcpSender) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := e.sock.dial(peer, connectTime); err != nil {
		return err
	}
	return e.sock.setConnOptions(e.cfg, false)
}

func (e *tcpSender) Run() (result.End, error) {
	if err := e.loop(); err != nil {
		return result.End{}, err
	}
	if err := e.method.finish(finishTime); err != nil {
		return result.End{}, err
	}
	e.sock.hangUp(make([]byte, 1), hangUpTime)
	end := e.meter.result(result.Local)
	end.Counts = map[string]int64{CountRetransmits: int64(e.retransmits[1] - e.retransmits[0])}
	e.did.sendCounts(end.Counts)
	end.Warnings = e.sock.warnings
	return end, nil
}

// loop is the measured part. A call that waits for room in the socket's buffer
// longer than pollTime returns with EAGAIN, so a peer that reads nothing
// delays the end by no more than that.
func (e *tcpSender) loop() error {
	method, size := e.method, e.cfg.Test.Params.Size
	now := sys.Nanotime()
	if e.meter.tick(now); e.meter.phase == open {
		if err := e.turned(); err != nil {
			return err
		}
	}
	left := size // bytes of the message that are still to be sent
	for e.meter.phase != closed || now < e.meter.end.at+int64(coolTime) {
		n, errno := method.send(left)
		now = sys.Nanotime()
		var turned bool
		if errno == 0 {
			messages := 0
			if left -= n; left == 0 {
				messages, left = 1, size
			}
			turned = e.meter.event(messages, n, now)
		} else {
			if err := e.refused(errno); err != nil {
				return err
			}
			turned = e.meter.stall(now)
		}
		if turned {
			if err := e.turned(); err != nil {
				return err
			}
		}
	}
	return nil
}

//go:noinline
func (e *tcpSender) refused(errno unix.Errno) error {
	switch errno {
	case unix.EAGAIN, unix.EINTR:
		return nil
	case unix.EPIPE, unix.ECONNRESET:
		return fmt.Errorf("the peer closed the connection of %s during the trial: %w", e.cfg.Test.Name, errno)
	}
	return e.sock.failed("send on", errno)
}

// turned reads the method's and the connection's counters where the window begins and ends.
//
//go:noinline
func (e *tcpSender) turned() error {
	e.did.turned(e.meter.phase, e.method.stats())
	switch e.meter.phase {
	case open:
		return e.countRetransmits(0)
	case closed:
		return e.countRetransmits(1)
	}
	return nil
}

func (e *tcpSender) countRetransmits(i int) error {
	info, err := unix.GetsockoptTCPInfo(int(e.sock.Sock), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return fmt.Errorf("read the retransmissions of a %s (getsockopt TCP_INFO): %w", e.sock.what, err)
	}
	e.retransmits[i] = info.Total_retrans
	return nil
}

func (e *tcpSender) Stop() {}

func (e *tcpSender) Intervals() *Intervals { return e.meter.parts }

func (e *tcpSender) Close() error { return errors.Join(closeMethod(e.method), e.sock.close()) }
