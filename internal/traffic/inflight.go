package traffic

// inflight are the requests of an open loop that have not been forgotten: those
// that wait for their answer, and of those that were answered or given up as
// many as there is room for, so that late and repeated answers can be told.
// Requests are numbered from 1, with gaps; messages carry the low bits of the
// number. It allocates nothing once made.
type inflight struct {
	ring   []request // a power of two
	bits   uint64    // mask of the bits that messages carry
	oldest uint64    // none with a lower number waits
	newest uint64
	// waiting is how many wait. Two that wait are never in one place, so that
	// their numbers differ in what messages carry of them.
	waiting int
}

// request is one of them: when it was due, and when it was sent, in ns.
type request struct {
	seq       uint64 // 0: none
	due, sent int64
	state     requestState
	kept      int32 // its number in each; -1 for none
}

type requestState uint8

const (
	answered requestState = iota
	waits
	gaveUp
)

// answerTo is what an answer is to.
type answerTo int

const (
	toNone    answerTo = iota // nothing that waits for it
	toWaiting                 // a request that waited
	toGivenUp                 // one that was given up
)

// Room for requests, at least and at most.
const (
	fewestInFlight = 1 << 8
	mostInFlight   = 1 << 18
)

// newInflight has room for the requests of a second, within limits, and for no
// more than numbers of so many bytes (1 to 8) can tell apart.
func newInflight(perSecond float64, width int) inflight {
	bits := ^uint64(0) >> (64 - 8*width)
	size := fewestInFlight
	for size < mostInFlight && float64(size) < perSecond && uint64(size) <= bits {
		size *= 2
	}
	f := inflight{ring: make([]request, size), bits: bits, oldest: 1}
	for i := range f.ring {
		f.ring[i].due = 1 // so that there is real memory behind it
	}
	return f
}

// place is where a request with that number belongs.
//
//go:nosplit
func (f *inflight) place(seq uint64) *request { return &f.ring[seq&uint64(len(f.ring)-1)] }

// full says that nothing can be sent.
//
//go:nosplit
func (f *inflight) full() bool { return f.waiting == len(f.ring) }

// free says that a request may have that number.
//
//go:nosplit
func (f *inflight) free(seq uint64) bool { return f.place(seq).state != waits }

// add takes note of a request that is sent, and of its number in each; its own
// number is free, and higher than those before.
//
//go:nosplit
func (f *inflight) add(seq uint64, due, now int64, kept int32) {
	*f.place(seq) = request{seq, due, now, waits, kept}
	f.newest = seq
	f.waiting++
}

// take looks for the request that an answer with these low bits is to, and
// when that was due.
//
//go:nosplit
func (f *inflight) take(low uint64) (to answerTo, due int64) {
	r := f.place(low)
	if r.seq == 0 || r.seq&f.bits != low || r.state == answered {
		return toNone, 0
	}
	to = toGivenUp
	if r.state == waits {
		to = toWaiting
		f.waiting--
	}
	r.state = answered
	return to, r.due
}

// eldest is when the request that waits longest was sent; false if none
// waits.
//
//go:nosplit
func (f *inflight) eldest() (sent int64, ok bool) {
	for f.waiting > 0 {
		if r := f.place(f.oldest); r.seq == f.oldest && r.state == waits {
			return r.sent, true
		}
		f.oldest++
	}
	return 0, false
}

// giveUp gives up the requests that were sent at a time or before.
//
//go:nosplit
func (f *inflight) giveUp(until int64) {
	for {
		if sent, ok := f.eldest(); !ok || sent > until {
			return
		}
		f.place(f.oldest).state = gaveUp
		f.waiting--
	}
}
