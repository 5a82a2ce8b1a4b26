//go:build linux || darwin || freebsd

package traffic

import "testing"

// TestOthersAnswers has messages come in that answer somebody else's requests,
// as a socket gets them that the kernel does not filter for.
func TestOthersAnswers(t *testing.T) {
	const id, size = 0x1234, 16
	mine := func(seq uint64) []byte {
		b := echoRequest(echoReply4, id, size)
		putSequence(b[echoSequenceAt:echoSequenceAt+2], seq)
		return b
	}
	others := func(seq uint64) []byte {
		b := mine(seq)
		b[echoIDAt]++
		return b
	}
	for _, before := range []int{0, ipHeader} {
		for _, c := range []struct {
			name    string
			message []byte
			right   bool
			stale   int64 // where identifiers are looked at
			all     int64 // and where not
		}{
			{"the answer", mine(7), true, 0, 0},
			{"an earlier answer", mine(6), false, 1, 1},
			{"a short one", mine(7)[:echoHeader], false, 1, 1},
			{"somebody else's", others(7), false, 0, 0},
			{"somebody else's, of another number", others(6), false, 0, 1},
			{"somebody else's, short", others(7)[:echoHeader], false, 0, 1},
			{"a piece", mine(7)[:echoIDAt], false, 0, 1},
		} {
			for _, idWidth := range []int{0, 2} {
				x := exchange{request: echoRequest(echoRequest4, id, size), requestAt: echoSequenceAt,
					answerAt: before + echoSequenceAt, width: 2, idWidth: idWidth, answerSize: before + echoHeader + size}
				x.checksumAt = -1
				x.seq = 6
				x.number()
				x.answer = make([]byte, x.answerSize+1)
				n := before + copy(x.answer[before:], c.message)
				right, stale := c.right, c.stale
				if idWidth == 0 {
					right, stale = c.right || c.name == "somebody else's", c.all
				}
				if got := x.right(n); got != right {
					t.Errorf("%s after %d bytes, %d of the identifier: right %v", c.name, before, idWidth, got)
				} else if !got {
					x.classify(n)
				}
				if x.stale != stale || x.late != 0 {
					t.Errorf("%s after %d bytes, %d of the identifier: %d stale, %d late; want %d, 0", c.name, before, idWidth, x.stale, x.late, stale)
				}
			}
		}
	}
}
