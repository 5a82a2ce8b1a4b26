package traffic

// trackerWindow is how far back the tracker remembers single datagrams.
const trackerWindow = 1 << 16

// tracker tells first copies, duplicates and reordered datagrams apart, by the
// sequence numbers in the order in which they came in. The zero tracker has
// seen nothing. It allocates nothing.
//
// All numbers of a flow go through one tracker, so that what is out of order
// where the window begins or ends is seen, too.
//
// A datagram is reordered if one with a higher number had come before it, and
// of several copies only the first is judged (RFC 4737, sections 3.3 and 4.1).
// One that is trackerWindow or more behind the highest number can no longer be
// told from a copy and is taken for one.
type tracker struct {
	next   uint64 // one above the highest number seen
	all    arrivals
	window arrivals                   // those of the sender's window
	seen   [trackerWindow / 64]uint64 // ring of bits, valid for the numbers from next-trackerWindow to next-1
}

// arrivals are datagrams by what they were when they came: first copies, others,
// and first copies that came after a higher number.
type arrivals struct{ unique, duplicates, reordered int64 }

func (a *arrivals) add(b *arrivals) {
	a.unique += b.unique
	a.duplicates += b.duplicates
	a.reordered += b.reordered
}

// add takes note of a datagram.
//
//go:nosplit
func (t *tracker) add(seq uint64, inWindow bool) {
	word, bit := &t.seen[seq%trackerWindow/64], uint64(1)<<(seq%64)
	var a arrivals
	switch {
	case seq >= t.next:
		if seq != t.next {
			t.skip(seq)
		}
		t.next = seq + 1
		a.unique = 1
		*word |= bit
	case t.next-seq > trackerWindow || *word&bit != 0:
		a.duplicates = 1
	default:
		a.unique, a.reordered = 1, 1
		*word |= bit
	}
	t.all.add(&a)
	if inWindow {
		t.window.add(&a)
	}
}

// skip forgets what the ring holds at the places of next to seq-1. (The place
// of seq itself is about to be set.)
func (t *tracker) skip(seq uint64) {
	if seq-t.next >= trackerWindow {
		clear(t.seen[:])
		return
	}
	for s := t.next; s != seq; s++ {
		t.seen[s%trackerWindow/64] &^= 1 << (s % 64)
	}
}
