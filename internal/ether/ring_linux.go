package ether

import (
	"sync/atomic"

	"netdelta/internal/sys"
)

// ringSlots is the most frames in a ring, as in a small network card's; a
// power of two.
const ringSlots = 256

// ringBytes is the room that a ring has for frames that may be segmented yet,
// which are 64 KiB long at most and mostly far shorter. All of it is to stay
// in a second-level cache.
const ringBytes = 1 << 20

// ring passes frames from one thread to one other, in order, without locks
// or copies: the producer reads each frame into the ring and the consumer
// writes it from there. Frames lie one behind the other in buf, and a full
// frame's room is free before each read. An empty ring starts again at the
// front, so a consumer that keeps up finds its frames in the cache.
type ring struct {
	arena // the producer's own
	slot  [ringSlots]struct{ at, size int }
	_     [128]byte
	// head counts the frames put in; only the producer writes it.
	head atomic.Uint32
	_    [128]byte
	// tail counts the frames taken out; only the consumer writes it.
	tail atomic.Uint32
	_    [128]byte
	// asleep is 1 while the consumer sleeps or is about to. It is the futex.
	asleep uint32
	_      [128]byte
}

func newRing(room int) *ring {
	return &ring{arena: newArena(room, min(ringSlots*aligned(room), ringBytes))}
}

// free is the room for the next frame, nil if there is none.
//
//go:nosplit
func (r *ring) free() []byte {
	head, tail := r.head.Load(), r.tail.Load()
	if head == tail {
		return r.empty()
	}
	if head-tail == ringSlots {
		return nil
	}
	return r.behind(r.slot[tail%ringSlots].at)
}

// put publishes the frame of n bytes that was read into free's room, and
// wakes the consumer if it sleeps.
//
//go:nosplit
func (r *ring) put(n int) {
	r.publish(n)
	r.wake()
}

// publish is put for a consumer that is woken later.
//
//go:nosplit
func (r *ring) publish(n int) {
	head := r.head.Load()
	r.slot[head%ringSlots].at, r.slot[head%ringSlots].size = r.at, n
	r.took(n)
	r.head.Store(head + 1)
}

// wake wakes the consumer if it sleeps.
//
//go:nosplit
func (r *ring) wake() {
	// The consumer says that it is asleep before it looks at head a last
	// time, and atomic operations have one order: either it sees this frame
	// or this sees it asleep.
	if atomic.LoadUint32(&r.asleep) == 1 {
		atomic.StoreUint32(&r.asleep, 0)
		sys.FutexWake(&r.asleep, 1)
	}
}

// next is the oldest frame in the ring. It waits for one. The frame stays in
// the ring until done.
//
//go:nosplit
func (r *ring) next() []byte {
	tail := r.tail.Load()
	for r.head.Load() == tail {
		atomic.StoreUint32(&r.asleep, 1)
		if r.head.Load() == tail {
			// Whatever ends the wait, the loop looks again.
			sys.FutexWait(&r.asleep, 1, nil)
		}
		atomic.StoreUint32(&r.asleep, 0)
	}
	s := &r.slot[tail%ringSlots]
	return r.buf[s.at : s.at+s.size]
}

// done gives the oldest frame's room back.
//
//go:nosplit
func (r *ring) done() { r.tail.Store(r.tail.Load() + 1) }
