package traffic

// minTolerance is how late a slot may be used whatever the rate, in ns: a
// thread that sleeps until a slot is due wakes some tens of microseconds later,
// and has then to send what fell due meanwhile.
const minTolerance = 1_000_000

// pacer is the clock of an open loop: slot k is due k intervals after the
// first, whatever becomes of the slots before. It belongs to one thread; times
// are nanoseconds of that thread's clock, handed in.
//
// A slot that is later than the tolerance, one interval or minTolerance if that
// is longer, was missed: after a stall only the latest that is due is used, so
// that nothing is sent in a burst that the rate does not have. With catchUp
// none is missed, and all come at once.
type pacer struct {
	interval  float64 // ns
	tolerance int64
	catchUp   bool

	start  int64
	next   int64 // number of the next slot
	missed int64 // slots that were left out so far
}

// newPacer returns the pacer of a rate per second, above 0.
func newPacer(perSecond float64, catchUp bool) pacer {
	interval := 1e9 / perSecond
	return pacer{interval: interval, tolerance: max(int64(interval), minTolerance), catchUp: catchUp}
}

// begin makes the first slot due now.
func (p *pacer) begin(now int64) { p.start, p.next, p.missed = now, 0, 0 }

// at is when a slot is due.
func (p *pacer) at(slot int64) int64 { return p.start + int64(float64(slot)*p.interval) }

// due is when the next slot is or was due. Slots that were missed by now are
// counted and left out.
//
//go:nosplit
func (p *pacer) due(now int64) int64 {
	due := p.at(p.next)
	if late := now - due; late > p.tolerance && !p.catchUp {
		return p.skip(now, late)
	}
	return due
}

// skip leaves out the slots that were missed, when the next one is so late.
//
//go:noinline
func (p *pacer) skip(now, late int64) int64 {
	skipped := int64(float64(late) / p.interval)
	for skipped > 0 && p.at(p.next+skipped) > now { // rounding
		skipped--
	}
	p.next += skipped
	p.missed += skipped
	return p.at(p.next)
}

// first is the number of the first slot that is due at t or later.
func (p *pacer) first(t int64) int64 {
	slot := max(int64(float64(t-p.start)/p.interval), 0)
	for slot > 0 && p.at(slot-1) >= t { // rounding
		slot--
	}
	for p.at(slot) < t {
		slot++
	}
	return slot
}

// take uses the next slot.
func (p *pacer) take() { p.next++ }

// passed is how many slots have been used or missed.
func (p *pacer) passed() int64 { return p.next }
