package traffic

// trackerWindow is how far back the tracker remembers single datagrams.
const trackerWindow = 1 << 16

// tracker tells first copies, duplicates and reordered datagrams apart, by the
// sequence numbers in the order in which they came in. The zero tracker has
// seen nothing. It allocates nothing.
//
// A datagram is reordered if one with a higher number had come before it, and
// of several copies only the first is judged (RFC 4737, sections 3.3 and 4.1).
// One that is trackerWindow or more behind the highest number can no longer be
// told from a copy and is taken for one.
type tracker struct {
	next                          uint64 // one above the highest number seen
	unique, duplicates, reordered int64
	seen                          [trackerWindow / 64]uint64 // ring of bits, valid for the numbers from next-trackerWindow to next-1
}

// add takes note of a datagram.
//
//go:nosplit
func (t *tracker) add(seq uint64) {
	word, bit := &t.seen[seq%trackerWindow/64], uint64(1)<<(seq%64)
	switch {
	case seq >= t.next:
		if seq != t.next {
			t.skip(seq)
		}
		t.next = seq + 1
		t.unique++
		*word |= bit
	case t.next-seq > trackerWindow || *word&bit != 0:
		t.duplicates++
	default:
		t.unique++
		t.reordered++
		*word |= bit
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
