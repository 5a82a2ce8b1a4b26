package traffic

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// word is a futex on a cache line of its own.
type word struct {
	v uint32
	_ [60]byte
}

// sleep waits while the word is want.
//
//go:nosplit
func (w *word) sleep(want uint32) unix.Errno {
	switch errno := sys.FutexWait(&w.v, want, nil); errno {
	case unix.EAGAIN: // it has changed already
		return 0
	default:
		return errno
	}
}

// rouse wakes one thread that sleeps on the word.
//
//go:nosplit
func (w *word) rouse() unix.Errno { return sys.FutexWake(&w.v, 1) }

// futexWaker wakes a thread that waits in futex(2), with a word for each side:
// 1 if it has been woken. The word is looked at before each sleep, so that a
// thread that was woken before it slept does not sleep at all.
type futexWaker struct{ sides [2]word }

func newFutexWaker() (waker, error) { return new(futexWaker), nil }

//go:nosplit
func (w *futexWaker) wake(side int) unix.Errno {
	s := &w.sides[side]
	atomic.StoreUint32(&s.v, 1)
	return s.rouse()
}

//go:nosplit
func (w *futexWaker) wait(side int) unix.Errno {
	s := &w.sides[side]
	for atomic.SwapUint32(&s.v, 0) == 0 {
		if errno := s.sleep(0); errno != 0 {
			return errno
		}
	}
	return 0
}

func (w *futexWaker) close() error { return nil }

// condWaker wakes a thread that waits on a condition variable: what a program
// with pthread_cond_wait and pthread_cond_signal does. The mutex is glibc's
// (0 free, 1 locked, 2 locked and waited for), the variable a number that each
// signal raises and waiters sleep on.
type condWaker struct {
	mutex word
	sides [2]cond
}

type cond struct {
	number  word
	waiters int  // with the mutex
	woken   bool // the condition, with the mutex
	_       [48]byte
}

func newCondWaker() (waker, error) { return new(condWaker), nil }

//go:nosplit
func (w *condWaker) wake(side int) unix.Errno {
	c := &w.sides[side]
	w.lock()
	c.woken = true
	var errno unix.Errno
	if c.waiters > 0 { // otherwise a signal does nothing
		atomic.AddUint32(&c.number.v, 1)
		errno = c.number.rouse()
	}
	w.unlock()
	return errno
}

//go:nosplit
func (w *condWaker) wait(side int) unix.Errno {
	c := &w.sides[side]
	var errno unix.Errno
	w.lock()
	for !c.woken && errno == 0 {
		before := atomic.LoadUint32(&c.number.v)
		c.waiters++
		w.unlock()
		errno = c.number.sleep(before)
		w.lock()
		c.waiters--
	}
	if errno == 0 {
		c.woken = false
	}
	w.unlock()
	return errno
}

// lock takes the mutex. A sleep that a signal ends is followed by another, as
// with pthread_mutex_lock.
//
//go:nosplit
func (w *condWaker) lock() {
	if atomic.CompareAndSwapUint32(&w.mutex.v, 0, 1) {
		return
	}
	for atomic.SwapUint32(&w.mutex.v, 2) != 0 {
		w.mutex.sleep(2)
	}
}

//go:nosplit
func (w *condWaker) unlock() {
	if atomic.SwapUint32(&w.mutex.v, 0) == 2 {
		w.mutex.rouse()
	}
}

func (w *condWaker) close() error { return nil }
