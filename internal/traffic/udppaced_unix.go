//go:build linux || darwin || freebsd

package traffic

import (
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// maxCoolTime bounds how long a slow sender goes on after its window: the
// receiver's ends with the first datagram after its time.
const maxCoolTime = 1200 * time.Millisecond

// pacedLoop is the measured part of an open loop: what is due goes out in one
// batch, then the thread sleeps until the next slot. A slot whose datagram the
// kernel refused was used and is missed; one for which there was no room in the
// socket's buffer stays due, as long as the pacer lets it.
func (e *udpSender) pacedLoop() error {
	cool, err := e.startPace()
	if err != nil {
		return err
	}
	method, pace, f, now := e.method, &e.pace, &e.flows[0], e.pace.start
	e.passed(now)
	for !e.over(now, cool) {
		if due := pace.due(now); due > now {
			sys.SleepUntil(e.wake(due, cool))
			if now = sys.Nanotime(); now < due {
				e.passed(now)
			}
			continue
		}
		inWindow := e.meter.phase == open
		datagrams := method.batch()
		datagrams = datagrams[:e.wanted(pace.ready(now, len(datagrams)))]
		e.fill(datagrams, f.seq+1, inWindow)
		n, errno := method.send(len(datagrams))
		now = sys.Nanotime()
		pace.use(n)
		if errno != 0 && errno != unix.EAGAIN {
			pace.use(1)
		}
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

// startPace makes the first slot due now. It returns how long the sender is to
// go on after its window.
//
//go:noinline
func (e *udpSender) startPace() (cool time.Duration, err error) {
	e.pace = newPacer(e.cfg.Test.Slots(), e.cfg.Test.Params.CatchUp == spec.On)
	if err := sys.PreciseTimers(); err != nil {
		return 0, err
	}
	e.pace.begin(sys.Nanotime())
	return min(max(coolTime, time.Duration(e.pace.interval)+pollTime), maxCoolTime), nil
}

// wake is when a thread is to wake that has nothing to send before a time.
//
//go:nosplit
func (e *udpSender) wake(due int64, cool time.Duration) int64 {
	if e.meter.phase == closed {
		return min(due, e.meter.end.at+int64(cool))
	}
	return min(due, e.meter.limit)
}

// countSlots tells of the window's slots. Those that the window did not use,
// and those whose datagram the kernel did not take, are missed.
func (e *udpSender) countSlots(end *result.End) {
	if e.cfg.Test.OpenLoop() {
		slots := e.slots[1] - e.slots[0]
		end.Counts[result.CountSlots], end.Counts[result.CountMissed] = slots, slots-end.Messages
	}
}

// ready is how many slots are due by now, 1 and up to limit, when the next one
// is.
//
//go:nosplit
func (p *pacer) ready(now int64, limit int) int {
	n := 1
	for n < limit && p.at(p.next+int64(n)) <= now {
		n++
	}
	return n
}

// use uses the next n slots.
//
//go:nosplit
func (p *pacer) use(n int) { p.next += int64(n) }
