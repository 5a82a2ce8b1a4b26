package traffic

// maxSequence is the largest number of bytes that a sequence number takes, and
// minSequence the smallest with which a stream's datagrams can be told apart.
const (
	maxSequence = 8
	minSequence = 3
)

// putSequence writes the low bits of seq into b, big endian. b has 1 to 8
// bytes: a message shorter than 8 bytes carries as much as it has room for.
func putSequence(b []byte, seq uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte(seq)
		seq >>= 8
	}
}

// getSequence reads what putSequence wrote.
func getSequence(b []byte) (seq uint64) {
	for _, c := range b {
		seq = seq<<8 | uint64(c)
	}
	return seq
}

// streamMark is the head of a stream's datagram: the top bit says that it
// belongs to the sender's window, the others are the low bits of its number in
// the flow, counted from 1. Outside of the window a number of 0 is none: that is
// what senders of earlier releases, which number the window alone, have there.
type streamMark struct {
	width int    // bytes
	flag  uint64 // the top bit
	back  uint64 // see number
}

// newStreamMark returns the mark of datagrams of that size, at least 1.
func newStreamMark(size int) streamMark {
	width := min(size, maxSequence)
	flag := uint64(1) << (8*width - 1)
	return streamMark{width: width, flag: flag, back: flag / 8}
}

// numbered says whether the numbers are long enough to tell first copies,
// duplicates and reordered datagrams apart. If not, the mark only says which
// datagrams belong to the window.
func (m streamMark) numbered() bool { return m.width >= minSequence }

// put marks a datagram of the window.
func (m streamMark) put(b []byte, seq uint64) {
	putSequence(b[:m.width], m.flag|seq&(m.flag-1))
}

// putOutside marks a datagram outside of the window.
func (m streamMark) putOutside(b []byte, seq uint64) { putSequence(b[:m.width], seq&(m.flag-1)) }

// get reads the mark of a datagram: whether it belongs to the window, and the
// low bits of its number.
func (m streamMark) get(b []byte) (low uint64, inWindow bool) {
	v := getSequence(b[:m.width])
	return v & (m.flag - 1), v&m.flag != 0
}

// number is the whole number of a datagram with these low bits, when next is
// the one expected: the only candidate that is at most an eighth of the range
// of the low bits behind next and less than seven eighths before it. Losses
// come in longer runs than reordering goes back, so the range is not halved.
// With three bytes (23 bits) a run of up to 7.3 million losses is understood,
// seconds of traffic at full speed. With two it is 28671 and with one 111,
// which a full queue can lose at once: such numbers are not to be used, see
// numbered.
func (m streamMark) number(low, next uint64) uint64 {
	back := min(m.back, next)
	oldest := next - back
	return oldest + (low-oldest)&(m.flag-1)
}
