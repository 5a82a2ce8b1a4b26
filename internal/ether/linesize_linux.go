package ether

import (
	"math/bits"
	"os"

	"netdelta/internal/spec"
)

const (
	// fastest is what a wire without a rate is taken to carry, in bytes and frames
	// per second: more than one thread can.
	fastest       = 5e9
	fastestFrames = 5e6
	minSlots      = 512
	maxSlots      = 1 << 20
	// touched is how much of a line's memory is there before the first frame.
	touched = 2 << 20
)

// lineSize is the room of a delay line, in bytes and frames: what its delay, rate,
// queue and mitigation need, up to spec.MaxWireHeld.
func lineSize(w spec.Wire, room int) (bytes, slots int) {
	held := (w.Delay + w.Wait + asideTime).Seconds()
	rate, frames := float64(fastest), float64(fastestFrames)
	queue := 0
	if w.Rate > 0 {
		rate = min(rate, float64(w.Rate)/8)
		frames = min(frames, float64(w.Rate)/(8*shortestLine))
		queue = w.Waiting()
	}
	// Frames lie at multiples of 128 bytes, which doubles the shortest ones.
	need := 2*rate*held + float64((queue+spec.MaxWireFrames)*aligned(room))
	count := frames*held + float64(queue+spec.MaxWireFrames)
	slots = 1 << bits.Len(uint(min(count, maxSlots)-1))
	return int(min(need, spec.MaxWireHeld)), max(slots, minSlots)
}

// touch has the kernel give the first of the memory now, rather than in the middle
// of a frame's way.
func (a *arena) touch() {
	for i := 0; i < min(len(a.buf), touched); i += os.Getpagesize() {
		a.buf[i] = 0
	}
}
