//go:build linux || darwin || freebsd

package traffic

import (
	"bytes"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// exchange is the local end of a test with one datagram outstanding: request,
// answer, next request. udp_rr and icmp_echo differ only in where a message
// carries its number.
type exchange struct {
	sock  *socket
	meter meter
	rtt   *hist.Hist // of the window

	// A right answer has answerSize bytes, and at answerAt the same width bytes
	// as the request at requestAt: the number. The answer's buffer has room for
	// one byte more, so that a longer one is noticed.
	request, answer     []byte
	requestAt, answerAt int
	width, answerSize   int
	// idWidth is how many bytes before the number have to be those of the
	// request too, where the kernel delivers answers to others as well; else 0.
	idWidth int
	// checksumAt is the place of an Internet checksum that covers the number
	// and that the kernel doesn't fill in; -1 for none.
	checksumAt int
	// payload is the bytes of one round trip that count, both directions.
	payload int

	seq     uint64
	timeout time.Duration
	pending pending
	watch   watcher

	timeouts, late, stale int64         // of the window
	longest               time.Duration // of the warm-up's late answers
	// Of the whole trial: numbers whose request the kernel did not take, or that
	// no request got, and answers that are no messages of the meter.
	unused, others int64
}

// sentAll and receivedAll are requests and answers, of whatever kind, of the
// whole trial.
func (x *exchange) sentAll() int64     { return int64(x.seq) - x.unused }
func (x *exchange) receivedAll() int64 { return x.meter.messages + x.others }

// run carries the trial out.
func (x *exchange) run() (result.End, error) {
	x.rtt = hist.New()
	x.meter.time(x.rtt)
	err := x.setTimeout(firstTimeout)
	if err == nil {
		err = x.loop(hist.New())
	}
	if err == nil {
		err = x.awaitLate()
	}
	if err != nil {
		return result.End{}, err
	}
	end := x.meter.result(result.Local)
	end.RTT = x.rtt
	end.Seen = x.watch.seen()
	end.Counts = map[string]int64{
		CountSent:  end.Messages + x.timeouts,
		CountLost:  x.timeouts - x.late,
		CountLate:  x.late,
		CountStale: x.stale,
	}
	end.Warnings = x.sock.warnings
	if x.receivedAll() == 0 {
		end.Warnings = append(end.Warnings, noTraffic)
	}
	if x.late > 0 {
		end.Warnings = append(end.Warnings, x.lateAnswers(end.Counts[CountSent]))
	}
	return end, nil
}

// lateAnswers is what there is to say if answers came after their timeout.
func (x *exchange) lateAnswers(sent int64) result.Warning {
	return result.Warning{
		Code:   WarnLateAnswers,
		Text:   fmt.Sprintf("%d of %d requests were answered after the timeout of %v: these round trips are in the percentiles and not in the rate", x.late, sent, x.timeout),
		Advice: "the machine or the path stalled, or the warm-up was too short to learn how long a round trip takes",
	}
}

// loop is the measured part: a send, a receive, a reading of the clock and a
// sample for each round trip. It allocates nothing, and calls nothing that has
// a stack check except where something rare has happened (see sys.Sock).
// Samples of the warm-up go to a histogram of their own.
func (x *exchange) loop(samples *hist.Hist) error {
	sock := x.sock.Sock
	start := sys.Nanotime()
	x.watch.start(start)
	if x.meter.tick(start); x.meter.phase == open {
		samples = x.meter.samples(x.rtt)
		x.watch.begin(start)
	}
	for x.meter.phase != closed {
		x.number()
		watched := x.watch.step()
		var n int
		var errno unix.Errno
		if watched {
			start = x.watch.open()
			_, errno = x.watch.send(sock, x.request, 0)
		} else {
			_, errno = sock.Send(x.request, 0)
		}
		if errno != 0 {
			if err := x.sendAgain(errno); err != nil {
				return err
			}
		}
		if watched {
			n, errno = x.watch.recv(sock, x.answer)
		} else {
			n, errno = sock.Recv(x.answer, 0)
		}
		for errno != 0 || !x.right(n) {
			wait, err := x.unexpected(n, errno, start)
			if err != nil {
				return err
			}
			if !wait {
				n = 0
				break
			}
			n, errno = sock.Recv(x.answer, 0)
		}
		now := sys.Nanotime()
		var turned bool
		if n != 0 {
			samples.Record(now - start)
			x.meter.each.add(now - start)
			turned = x.meter.event(1, x.payload, now)
		} else {
			turned = x.giveUp(start, now)
		}
		if watched {
			now = x.watch.done(now, n != 0)
		}
		start = max(now, x.meter.resume)
		if turned && x.meter.phase == open {
			var err error
			if start, err = x.begin(samples); err != nil {
				return err
			}
			samples = x.meter.samples(x.rtt)
		}
	}
	return nil
}

// number gives the request the next number.
//
//go:nosplit
func (x *exchange) number() {
	x.seq++
	putSequence(x.request[x.requestAt:x.requestAt+x.width], x.seq)
	if x.checksumAt >= 0 {
		stepChecksum(x.request[x.checksumAt:x.checksumAt+2], uint16(x.seq))
	}
}

// right says whether the n bytes of the buffer are the answer to the present
// request.
func (x *exchange) right(n int) bool {
	return n == x.answerSize &&
		bytes.Equal(x.answer[x.answerAt-x.idWidth:x.answerAt+x.width], x.request[x.requestAt-x.idWidth:x.requestAt+x.width])
}

// foreign says whether the n bytes of the buffer are for somebody else.
func (x *exchange) foreign(n int) bool {
	return x.idWidth > 0 && (n < x.answerAt ||
		!bytes.Equal(x.answer[x.answerAt-x.idWidth:x.answerAt], x.request[x.requestAt-x.idWidth:x.requestAt]))
}

// unexpected deals with a receive call that did not bring the answer, and says
// whether to go on waiting for it.
//
//go:noinline
func (x *exchange) unexpected(n int, errno unix.Errno, start int64) (wait bool, err error) {
	switch {
	case errno == unix.EAGAIN:
		return false, nil
	case errno == 0:
		x.classify(n)
	case !transient(errno):
		return false, x.sock.failed("receive from", errno)
	}
	return sys.Nanotime()-start < int64(x.timeout), nil
}

// classify counts an answer that is not to the present request.
func (x *exchange) classify(n int) {
	if x.foreign(n) {
		return
	}
	x.others++
	if n == x.answerSize {
		mask := uint64(1)<<(8*x.width) - 1 // all ones for 8 bytes
		low := getSequence(x.answer[x.answerAt : x.answerAt+x.width])
		if sent, ok := x.pending.answered(low, x.seq, mask); ok {
			x.late++
			x.longest = max(x.longest, time.Duration(sys.Nanotime()-sent))
			// Its round trip is a true one, if a long one: without it the
			// largest would be cut off at the timeout. (The warm-up's
			// requests are forgotten when the window opens.)
			switch x.meter.phase {
			case open:
				x.meter.samples(x.rtt).Record(sys.Nanotime() - sent)
			case closed:
				x.rtt.Record(sys.Nanotime() - sent)
			}
			return
		}
	}
	x.stale++
}

// sendAgain deals with a send that failed. An error that an earlier request
// drew (ECONNREFUSED) is reported in place of sending, so it is tried once
// more; if that fails too, the request will be given up in its time.
//
//go:noinline
func (x *exchange) sendAgain(errno unix.Errno) error {
	if transient(errno) {
		_, errno = x.sock.Send(x.request, 0)
	}
	if errno != 0 && !transient(errno) {
		return x.sock.failed("send on", errno)
	}
	if errno != 0 {
		x.unused++
	}
	return nil
}

// giveUp takes the present request for lost, for now. It reports whether the
// phase has changed.
//
//go:noinline
func (x *exchange) giveUp(start, now int64) bool {
	x.timeouts++
	x.pending.giveUp(x.seq, start)
	x.meter.each.add(noAnswer)
	return x.meter.tick(now)
}

// begin starts the window's own counts, after a warm-up with those samples,
// and returns the time at which its first round trip begins.
//
//go:noinline
func (x *exchange) begin(warmup *hist.Hist) (start int64, err error) {
	longest := max(x.longest, time.Duration(warmup.Max()))
	if err := x.setTimeout(replyTimeout(longest)); err != nil {
		return 0, err
	}
	x.pending = pending{}
	x.timeouts, x.late, x.stale = 0, 0, 0
	start = sys.Nanotime()
	x.watch.begin(start)
	x.meter.openAt(start)
	return start, nil
}

func (x *exchange) setTimeout(d time.Duration) error {
	x.timeout = d
	return x.sock.setTimeout(unix.SO_RCVTIMEO, d)
}

// awaitLateTime is how long the answers to requests that were given up are
// waited for, after the window, at most.
const awaitLateTime = time.Second

// awaitLate receives answers until nothing has come for the length of a
// timeout, so that late answers are not taken for lost; and where none is
// waited for, until nothing is left in the socket.
func (x *exchange) awaitLate() error {
	for until := sys.Nanotime() + int64(awaitLateTime); sys.Nanotime() < until; {
		flags := 0
		if x.pending.waiting == 0 {
			flags = unix.MSG_DONTWAIT
		}
		n, errno := x.sock.Recv(x.answer, flags)
		switch {
		case errno == 0:
			x.classify(n)
		case errno == unix.EAGAIN:
			return nil
		case !transient(errno):
			return x.sock.failed("receive from", errno)
		}
	}
	return nil
}
