package counters

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"netdelta/internal/sys"
)

// loop works on one CPU whenever nothing else wants that: a thread bound to it,
// of idle priority, that counts the pieces of work it has done. The work touches
// no memory and asks nothing of the kernel, so that how long a piece takes
// depends on nothing but the CPU.
//
// It rests from the start, and works between work and rest. While it works it
// never waits: it holds one of the runtime's places (GOMAXPROCS). It looks
// whether it is to rest after each piece, but lets the runtime interrupt it only
// once in breath pieces, since each time costs two changes of threads; who stops
// all goroutines (runtime.GC, say) has the loops rest before.
type loop struct {
	cpu, tid int
	turns    chan struct{} // one for each time that it is to work
	resting  chan struct{} // one for each time that it has stopped
	gone     chan struct{} // closed when its thread has ended
	working  bool

	// The thread itself writes here all the time: it has a cache line of its
	// own, on either side of which the line that a CPU fetches with it is empty
	// too.
	_      [128]byte
	pieces atomic.Int64
	halt   atomic.Bool
	_      [128]byte
}

// A piece of work is some 0.4 us on a CPU of 3 GHz, and a breath some 50 ms.
const (
	pieceRounds = 256
	breath      = 1 << 17
)

// startLoop starts a loop, which rests.
func startLoop(cpu int) (*loop, error) {
	l := &loop{cpu: cpu, turns: make(chan struct{}, 1), resting: make(chan struct{}), gone: make(chan struct{})}
	ready := make(chan error)
	onOwnThread(func() {
		defer close(l.gone)
		err := sys.PinThread(cpu)
		if err == nil {
			err = sys.SetIdle()
		}
		l.tid = sys.ThreadID()
		ready <- err
		if err != nil {
			return
		}
		x := uint64(1)
		for range l.turns {
			x = l.spin(x)
			l.resting <- struct{}{}
		}
	})
	if err := <-ready; err != nil {
		<-l.gone
		return nil, fmt.Errorf("a loop of idle priority on CPU %d: %w", cpu, err)
	}
	return l, nil
}

// spin works until it is to rest.
func (l *loop) spin(x uint64) uint64 {
	for n := l.pieces.Load(); !l.halt.Load(); {
		x = piece(x)
		n++
		l.pieces.Store(n)
		if n%breath == 0 {
			runtime.Gosched()
		}
	}
	return x
}

// piece is a chain of steps each of which needs the one before (Marsaglia's
// xorshift), so that its length in cycles is always the same.
//
//go:noinline
func piece(x uint64) uint64 {
	for range pieceRounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// work has the loop run. It returns at once.
func (l *loop) work() {
	if !l.working {
		l.working = true
		l.halt.Store(false)
		l.turns <- struct{}{}
	}
}

// rest stops the loop, and returns when it has stopped, which on a CPU that is
// busy may take a while.
func (l *loop) rest() {
	if l.working {
		l.working = false
		l.halt.Store(true)
		<-l.resting
	}
}

// restAll stops loops, all at the same time: where CPUs are busy, a while is
// then not once for each.
func restAll(loops []*loop) {
	for _, l := range loops {
		l.halt.Store(true)
	}
	for _, l := range loops {
		l.rest()
	}
}

// end stops the loop for ever, and returns when its thread is gone.
func (l *loop) end() {
	l.rest()
	close(l.turns)
	<-l.gone
}

// time is the CPU time of the loop's thread in nanoseconds, by the kernel's
// count.
func (l *loop) time() (int64, error) { return sys.ThreadTime(l.tid) }
