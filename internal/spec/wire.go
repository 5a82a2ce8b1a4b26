package spec

import "time"

// Wire is what a lab's own wire does to the frames of each direction; the zero
// Wire passes each on as soon as it is there. What is asked for is put in by a
// delay line, of the wire's one thread for the direction.
type Wire struct {
	// Line asks for the delay line even where nothing else is asked for, so that
	// levels with and without a delay differ in nothing but that.
	Line bool
	// Delay is how long a frame is held, from 0 to MaxWireDelay.
	Delay time.Duration
	// Rate is the line's, in bit/s of frames with their preamble, checksum and gap
	// (24 bytes, at least 84 in all; IEEE 802.3); 0 for none.
	Rate int64
	// Queue is how many frames may wait for the line; what comes beyond is dropped
	// and counted. 0 stands for DefaultWireQueue.
	Queue int
	// Loss, Duplicate and Reorder are shares of the frames that carry UDP, TCP or
	// ICMP; others are never touched. A frame that is reordered goes behind the next.
	Loss, Duplicate, Reorder Share
	// Frames and Wait are the mitigation of a network card: frames are handed over
	// as soon as so many are there, or the first has waited for so long. One such
	// handing over is a handler run. 0 for none.
	Frames int
	Wait   time.Duration
}

// Share is a share of frames: every Every-th of them exactly, or each by itself
// with probability Random, from a generator that is seeded alike in each link.
type Share struct {
	Every  int
	Random float64
}

// Limits of a wire.
const (
	MaxWireDelay     = 10 * time.Second
	DefaultWireQueue = 1000
	MaxWireQueue     = 100_000
	MaxWireFrames    = 256
	MaxWireWait      = 100 * time.Millisecond
)

// WireNames are what stands behind the knob "wire" and a dot, in the order in which
// a wire is written.
func WireNames() []string {
	return []string{"line", "delay", "rate", "queue", "loss", "duplicate", "reorder", "frames", "wait"}
}

// With is the wire with one thing set as it is written: "delay" "100us", "rate"
// "100Mbit/s" or "none", "loss" "1%" or "1/100" or "none". An error says what would
// be right.
func (w Wire) With(name, value string) (Wire, error) { return w, nil }

// ParseWire reads "delay=100us,rate=100Mbit/s".
func ParseWire(s string) (Wire, error) { return Wire{}, nil }

// String is the wire as ParseWire reads it; empty for the zero Wire.
func (w Wire) String() string { return "" }

// Plain says that frames pass without a delay line.
func (w Wire) Plain() bool { return w == Wire{} }
