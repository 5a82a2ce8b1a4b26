package ether_test

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/labtest"
)

// TestFloodNeitherStallsNorDrops sends more than a NAPI poll's queue holds, as
// fast as it goes: the wire waits for room, drops nothing of what it has
// read, and goes on.
func TestFloodNeitherStallsNorDrops(t *testing.T) {
	for _, c := range ether.Contexts() {
		if !c.TAP.NAPI {
			continue
		}
		for _, bound := range []int{c.TAP.SndBuf, 4096} { // the lesser one is full with two frames
			c.TAP.SndBuf = bound
			t.Run(c.Name, func(t *testing.T) {
				needContext(t, c)
				labtest.NoLeaks(t)
				a, b := newHosts(t, c, 1500)
				w := start(t, a, b, c, 1500)
				for range 5000 {
					// A full transmit queue loses frames: that is where they
					// are to be lost.
					if _, err := unix.Write(a.sock, frame(1514, 1)); err != nil && err != unix.ENOBUFS {
						t.Fatal(err)
					}
				}
				s := settled(t, w, 2, 0)
				if s.AToB.Dropped() != 0 || s.AToB[ether.FramesOut] < 100 {
					t.Errorf("the wire counts %v", s.Counts())
				}
				last := frame(60, 2)
				a.send(t, last)
				for got := b.recv(t); !bytes.Equal(got, last); got = b.recv(t) {
				}
			})
		}
	}
}
