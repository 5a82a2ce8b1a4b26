package ether_test

import (
	"bytes"
	"fmt"
	"testing"

	"netdelta/internal/ether"
	"netdelta/internal/labtest"
)

// TestFragsPassAllLengths sends frames from the shortest to the longest that page
// fragments have room for, around the limits of pages, with and without a
// virtio-net header. What is longer is refused, and counted so.
func TestFragsPassAllLengths(t *testing.T) {
	const mtu = ether.MaxMTU
	c, ok := ether.ContextOf("frags")
	if !ok {
		t.Fatal("no context frags")
	}
	needContext(t, c)
	for _, offload := range []bool{false, true} {
		c.TAP.VNetHdr = offload
		t.Run(fmt.Sprint("offload=", offload), func(t *testing.T) {
			needContext(t, c)
			labtest.NoLeaks(t)
			a, b := newHosts(t, c, mtu)
			w := start(t, a, b, c, mtu)
			most := longestIn(c)
			lengths := []int{14, 15, 42, 60, 127, 128, 129, 1514, 4095, 4096, 4097, 128 + 4096, 129 + 4096, 9014, 128 + 8*4096, 32768, 65000, most}
			bytesIn := 0
			for i, n := range lengths {
				p := frame(n, byte(i))
				a.send(t, p)
				if got := b.recv(t); !bytes.Equal(got, p) {
					t.Fatalf("%d bytes came as %d, or others", n, len(got))
				}
				bytesIn += n
			}
			a.send(t, frame(mtu+14, 1))
			s := settled(t, w, uint64(len(lengths))+1, 0)
			if got := s.AToB; got[ether.FramesOut] != uint64(len(lengths)) || got[ether.BytesOut] != uint64(bytesIn) || got[ether.DropRefused] != 1 || got.Dropped() != 1 {
				t.Errorf("counted %v, want %d frames of %d bytes and one refused", s.Counts(), len(lengths), bytesIn)
			}
		})
	}
}
