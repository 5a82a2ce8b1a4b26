//go:build linux || darwin || freebsd

package traffic

import (
	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

const (
	// minNap and maxNap bound a nap, in ns: a shorter one is over before the
	// thread sleeps, and a longer one saves nothing more.
	minNap = 10_000
	maxNap = 100_000
	// napOverhead is what the kernel adds to a datagram in the receive buffer,
	// at most (struct sk_buff, and memory given out in powers of two).
	napOverhead = 1280
	// napShare is the part of the receive buffer that may fill during a nap.
	napShare = 8
)

// polledReceiver is a receive method that can be asked without waiting.
type polledReceiver interface {
	datagramReceiver
	// poll is receive, but that it returns EAGAIN at once.
	poll() (int, unix.Errno)
}

// napper spares the sender from waking the receiver. A receiver that is faster
// than its sender sleeps after each datagram, and to wake it again costs the
// sender, where both are one machine's, as much as to send. So while datagrams
// come fast, a receiver that has nothing to do does not wait for the next one,
// but sleeps a little and takes then what has come: no more than a part of its
// buffer holds. With UDP_SEGMENT so much comes at once that this is no time.
type napper struct {
	method polledReceiver // nil for no naps
	most   int64          // datagrams during a nap

	at, messages int64 // of the latest nap, or when there was to be none
}

// newNapper returns the napper of a receiver, which naps if its method and the
// test are such.
func newNapper(s *socket, m datagramReceiver, cfg Config) napper {
	polled, ok := m.(polledReceiver)
	if !ok || cfg.Test.Params.Wait != spec.Nap || cfg.Test.OpenLoop() || cfg.Test.SendMethod().Name == "gso" {
		return napper{}
	}
	room, err := unix.GetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return napper{} // only that it is slower
	}
	return napper{method: polled, most: int64(room/(cfg.Test.Params.Size+napOverhead)) / napShare}
}

// begin readies the calling thread for naps.
func (p *napper) begin() error {
	if p.method == nil {
		return nil
	}
	return sys.PreciseTimers()
}

// receive is the method's, after a nap if need be, when messages have been
// received so far.
//
//go:nosplit
func (p *napper) receive(messages int64) (int, unix.Errno) {
	n, errno := p.method.poll()
	if errno != unix.EAGAIN {
		return n, errno
	}
	now := sys.Nanotime()
	nap := p.length(now, messages)
	if nap == 0 {
		return p.method.receive()
	}
	sys.SleepUntil(now + nap)
	if n, errno = p.method.poll(); errno != unix.EAGAIN {
		return n, errno
	}
	return p.method.receive()
}

// length is how long to sleep now, 0 for not at all: as long as the datagrams
// take that there is room for, at the pace of those since the latest nap.
//
//go:nosplit
func (p *napper) length(now, messages int64) int64 {
	came, took := messages-p.messages, now-p.at
	p.messages, p.at = messages, now
	if came <= 0 || took/came > maxNap {
		return 0
	}
	if nap := min(p.most*took/came, maxNap); nap >= minNap {
		return nap
	}
	return 0
}

//go:nosplit
func (m *recvDatagram) poll() (int, unix.Errno) { return m.take(unix.MSG_DONTWAIT) }
