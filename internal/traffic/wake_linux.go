package traffic

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// wake is two threads that wake each other in turns, on the CPUs of traffic
// threads 0 and 1: what a wake-up costs on this machine, there and back,
// without a network. It has only a local end. Loops may keep those CPUs busy
// meanwhile.
//
// A wait has no timeout of its own, which would be a timer for each: whoever
// ends the test wakes both threads, again and again until they have ended.
type wake struct {
	cfg   Config
	way   waker
	meter meter
	rtt   *hist.Hist // of the window
	busy  *busyLoops // nil for none

	end  chan struct{} // closed by stop
	once sync.Once
	over atomic.Bool
}

// waker is a way to wake a thread: each of the two has a side, 0 or 1. It
// allocates nothing for a wake-up.
type waker interface {
	// wake wakes the thread of a side, now or when it next waits.
	wake(side int) unix.Errno
	// wait waits until the side is woken. It may end early, with EINTR.
	wait(side int) unix.Errno
	close() error
}

// wakers is the table of ways, which package spec names.
var wakers = []struct {
	name string
	make func() (waker, error)
}{
	{"futex", newFutexWaker},
	{"eventfd", newEventfdWaker},
	{"pipe", newPipeWaker},
	{"cond", newCondWaker},
}

func newWake(cfg Config) Engine {
	return &wake{cfg: cfg, busy: newBusyLoops(&cfg), end: make(chan struct{})}
}

func (e *wake) Prepare() (_ uint16, err error) {
	by := e.cfg.Test.Params.By
	for _, w := range wakers {
		if w.name == by {
			e.meter = meterOf(e.cfg)
			e.way, err = w.make()
			return 0, err
		}
	}
	return 0, fmt.Errorf("nothing wakes a thread by %q", by)
}

// Arm has nothing to connect to: there is no peer.
func (e *wake) Arm(netip.AddrPort) error { return nil }

func (e *wake) Run() (result.End, error) {
	e.rtt = hist.New()
	e.meter.time(e.rtt)
	if err := e.busy.start(2); err != nil {
		return result.End{}, err
	}
	defer e.busy.stop()
	cancel := e.cutOff(e.cfg.Warmup + e.cfg.Window + unfinishedTime)
	unfinished := false
	err := crew(&e.cfg, 2, func(side int) error {
		if side == 1 {
			return e.back()
		}
		defer e.stop()
		err := e.forth(hist.New())
		if unfinished = err == errOver; unfinished {
			err = nil // the other thread's, if there is one, says why
		}
		return err
	}, e.stop)
	cancel()
	if err != nil {
		return result.End{}, err
	}
	if unfinished {
		e.meter.stall(sys.Nanotime())
		e.meter.finish()
		e.meter.each.add(noAnswer)
	}
	end := e.meter.result(result.Local)
	end.RTT = e.rtt
	end.Counts = map[string]int64{CountSent: end.Messages}
	if unfinished {
		end.Counts[CountSent]++
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnUnfinished,
			Text:   fmt.Sprintf("a thread was not woken until %v after the window", unfinishedTime),
			Advice: "its time is in no figure: look for what kept the thread off its CPU",
		})
	}
	return end, nil
}

// forth is the measured part: wake the other thread, wait for it, read the
// clock, once for each round trip. See exchange.loop.
func (e *wake) forth(samples *hist.Hist) error {
	start := sys.Nanotime()
	if e.meter.tick(start); e.meter.phase == open {
		samples = e.meter.samples(e.rtt)
	}
	for e.meter.phase != closed {
		if errno := e.way.wake(1); errno != 0 {
			return e.failed("wake a thread", errno)
		}
		if errno := e.way.wait(0); errno != 0 {
			if err := e.again(0, errno); err != nil {
				return err
			}
		}
		now := sys.Nanotime()
		if e.over.Load() {
			return errOver
		}
		samples.Record(now - start)
		e.meter.each.add(now - start)
		if e.meter.event(1, 0, now) && e.meter.phase == open {
			samples = e.meter.samples(e.rtt)
		}
		start = max(now, e.meter.resume)
	}
	return nil
}

// back is the other thread.
func (e *wake) back() error {
	for {
		if errno := e.way.wait(1); errno != 0 {
			if err := e.again(1, errno); err != nil {
				return err
			}
		}
		if e.over.Load() {
			return nil
		}
		if errno := e.way.wake(0); errno != 0 {
			return e.failed("wake a thread", errno)
		}
	}
}

// again goes on with a wait that ended early.
//
//go:noinline
func (e *wake) again(side int, errno unix.Errno) error {
	for errno == unix.EINTR && !e.over.Load() {
		errno = e.way.wait(side)
	}
	if errno != 0 && errno != unix.EINTR {
		return e.failed("wait to be woken", errno)
	}
	return nil
}

//go:noinline
func (e *wake) failed(what string, errno unix.Errno) error {
	return fmt.Errorf("%s by %s: %w", what, e.cfg.Test.Params.By, errno)
}

// stop has both threads end.
func (e *wake) stop() {
	e.over.Store(true)
	e.once.Do(func() { close(e.end) })
}

// cutOff stops after a time, and wakes whoever waits from stop on until cancel
// is called.
func (e *wake) cutOff(after time.Duration) (cancel func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-done:
			return
		case <-e.end:
		case <-timer.C:
			e.stop()
		}
		for {
			// A pipe or counter that is full has woken the thread already, and
			// then this would wait: it can hold many more than come in pollTime.
			e.way.wake(0)
			e.way.wake(1)
			select {
			case <-done:
				return
			case <-time.After(pollTime):
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

func (e *wake) Stop() {}

func (e *wake) Intervals() *Intervals { return e.meter.parts }

func (e *wake) Close() error {
	if e.way == nil {
		return nil
	}
	return e.way.close()
}
