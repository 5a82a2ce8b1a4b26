package traffic

import (
	"testing"

	"pgregory.net/rapid"
)

func TestChecksum(t *testing.T) {
	// The example of RFC 1071, section 3: the sum is ddf2.
	if got := checksum([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}); got != ^uint16(0xddf2) {
		t.Errorf("checksum %x, want %x", got, ^uint16(0xddf2))
	}
}

// TestStepChecksum steps through all numbers and back to the first, and
// compares with checksums made from scratch.
func TestStepChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Uint16().Draw(t, "id")
		b := echoRequest(echoRequest4, id, rapid.IntRange(0, 9).Draw(t, "size"))
		seq := rapid.Uint16().Draw(t, "seq")
		putSequence(b[echoSequenceAt:echoSequenceAt+2], uint64(seq))
		clear(b[echoChecksumAt : echoChecksumAt+2])
		putSequence(b[echoChecksumAt:echoChecksumAt+2], uint64(checksum(b)))
		for range rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "steps") {
			seq++
			putSequence(b[echoSequenceAt:echoSequenceAt+2], uint64(seq))
			stepChecksum(b[echoChecksumAt:echoChecksumAt+2], seq)
			// A message with the right checksum sums up to 0.
			if c := checksum(b); c != 0 {
				t.Fatalf("sequence number %d: the message sums up to %x", seq, c)
			}
		}
	})
}
