package traffic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSequenceComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := make([]byte, rapid.IntRange(1, maxSequence).Draw(t, "width"))
		seq := rapid.Uint64().Draw(t, "seq")
		putSequence(b, seq)
		want := seq
		if len(b) < maxSequence {
			want &= 1<<(8*len(b)) - 1
		}
		if got := getSequence(b); got != want {
			t.Fatalf("%x in %d bytes came back as %x", seq, len(b), got)
		}
	})
}

// TestStreamMark sends numbers over a path that loses and reorders within what
// the width allows, and wants the whole numbers back.
func TestStreamMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 20).Draw(t, "size")
		m := newStreamMark(size)
		span := m.flag // numbers that the low bits tell apart
		next := rapid.Uint64Range(0, 1<<40).Draw(t, "next")
		back := min(span/8, next)
		var seq uint64
		if rapid.Bool().Draw(t, "before") {
			seq = next - rapid.Uint64Range(0, back).Draw(t, "behind")
		} else {
			seq = next + rapid.Uint64Range(0, span-back-1).Draw(t, "ahead")
		}
		b := make([]byte, size)
		m.put(b, seq)
		low, inWindow := m.get(b)
		if got := m.number(low, next); !inWindow || got != seq {
			t.Fatalf("size %d, expecting %d: %d came back as %d (of the window: %v)", size, next, seq, got, inWindow)
		}
		m.putOutside(b, seq)
		if low, inWindow := m.get(b); inWindow || m.number(low, next) != seq {
			t.Fatalf("%d outside of the window came back as %d (of the window: %v)", seq, m.number(low, next), inWindow)
		}
	})
}

// A number must outlast what a full queue can lose at once.
func TestShortNumbersAreNotUsed(t *testing.T) {
	for size := 1; size <= 10; size++ {
		m := newStreamMark(size)
		longest := m.flag - 1 - m.back // the longest gap that is understood
		if want := longest > 1_000_000; m.numbered() != want {
			t.Errorf("datagrams of %d bytes: numbered %v, gaps up to %d", size, m.numbered(), longest)
		}
	}
}

// FuzzStreamMark reads what a stranger may send.
func FuzzStreamMark(f *testing.F) {
	f.Add([]byte{0x80}, uint64(0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, b []byte, next uint64) {
		if len(b) == 0 {
			return
		}
		m := newStreamMark(len(b))
		low, _ := m.get(b)
		if low >= m.flag {
			t.Fatalf("low bits %x are wider than %x", low, m.flag-1)
		}
		if n := m.number(low, next); n&(m.flag-1) != low {
			t.Fatalf("number %x doesn't have the low bits %x", n, low)
		}
	})
}
