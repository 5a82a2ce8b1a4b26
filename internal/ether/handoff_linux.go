package ether

// handoff passes each frame to a second thread, which writes it.
type handoff struct {
	ring *ring
	// spare takes the frames that find the ring full.
	spare []byte
	full  bool
	count *tally
}

func newHandoff(f framer, count *tally) *handoff {
	return &handoff{ring: newRing(f.room), spare: make([]byte, f.room), count: count}
}

//go:nosplit
func (h *handoff) buffer() []byte {
	p := h.ring.free()
	h.full = p == nil
	if h.full {
		return h.spare
	}
	return p
}

//go:nosplit
func (h *handoff) pass(n int) {
	if h.full {
		h.count.add(DropRingFull, 1)
		return
	}
	h.ring.put(n)
}

// deliver takes a copy of a frame that lies elsewhere.
//
//go:nosplit
func (h *handoff) deliver(p []byte) {
	to := h.buffer()
	if h.full {
		h.count.add(DropRingFull, 1)
		return
	}
	h.ring.publish(copy(to, p))
}

// flush has the second thread see what was delivered.
//
//go:nosplit
func (h *handoff) flush() { h.ring.wake() }

// writer is the second thread of a handoff.
type writer struct {
	ring *ring
	to   outlet
}

// step waits for a frame and writes it.
//
//go:nosplit
func (w *writer) step() {
	w.to.deliver(w.ring.next())
	w.ring.done()
}

// run writes frames for ever, on the calling, locked thread.
func (w *writer) run() {
	for {
		w.step()
	}
}
