package ether_test

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/labtest"
)

// queueLength is the frames that a TAP's transmit queue holds
// (TUN_READQ_SIZE in drivers/net/tun.c).
const queueLength = 500

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
				for range 2000 {
					// A full transmit queue loses frames: that is where they
					// are to be lost.
					if _, err := unix.Write(a.sock, frame(1514, 1)); err != nil && err != unix.ENOBUFS {
						t.Fatal(err)
					}
				}
				// It comes last, so all that was queued before it has come.
				passes(t, a, b, frame(60, 2))
				s := settled(t, w, queueLength, 0)
				if s.AToB.Dropped() != 0 || s.AToB[ether.FramesOut] < queueLength {
					t.Errorf("the wire counts %v", s.Counts())
				}
			})
		}
	}
}

// passes sends a frame until it comes, past what is left of a flood.
func passes(t *testing.T, a, b *host, p []byte) {
	t.Helper()
	got := make([]byte, 2048)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		n, err := unix.Read(b.sock, got)
		if err == nil && bytes.Equal(got[:n], p) {
			return
		}
		unix.Write(a.sock, p) // lost where the queue is full yet
	}
	t.Error("no frame passes any more")
}
