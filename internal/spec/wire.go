package spec

import (
	"fmt"
	"strings"
	"time"
)

// Wire is what a lab's own wire does to the frames of each direction; the zero
// Wire passes each on as soon as it is there. What is asked for is put in by a
// delay line, of the wire's one thread for the direction.
type Wire struct {
	// Line asks for the delay line even where nothing else is asked for, so that
	// levels with and without a delay differ in nothing but that. With sets it
	// along with anything else.
	Line bool
	// Delay is how long a frame is held, from 0 to MaxWireDelay.
	Delay time.Duration
	// Rate is the line's, in bit/s of frames with their preamble, checksum and gap
	// (24 bytes, at least 84 in all; IEEE 802.3), from MinWireRate to MaxWireRate; 0
	// for none. The delay comes after it.
	Rate int64
	// Queue is how many frames may wait for the line; what comes beyond is dropped
	// and counted. 0 stands for DefaultWireQueue. Without a rate nothing waits.
	Queue int
	// Loss, Duplicate and Reorder are shares of the frames that carry UDP, TCP or
	// ICMP; others are never touched. What is lost is neither of the others. A frame
	// that is reordered goes behind the next of them.
	Loss, Duplicate, Reorder Share
	// Frames and Wait are the mitigation of a network card: frames are handed over
	// as soon as so many are there, or the first has waited for so long. One such
	// handing over is a handler run. Frames are up to MaxWireFrames, and 0 stands
	// for as many where there is a Wait; 1 is no mitigation. Without a Wait those
	// that are there are handed over at once, so many in a run.
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
	MinWireRate      = 1_000             // bit/s
	MaxWireRate      = 1_000_000_000_000 // bit/s
	DefaultWireQueue = 1000
	MaxWireQueue     = 100_000
	MaxWireFrames    = 256
	MaxWireWait      = 100 * time.Millisecond
	// MaxWireHeld is the bytes that one direction holds at most, those that wait
	// for the line and those on the way. A wire whose rate and delay need more is
	// none (Check). One with a delay and no rate stops reading when it is full, so
	// that what is too much waits at the interface before it, or is dropped there.
	MaxWireHeld = 256 << 20
)

// wireWord is one thing that a wire can be asked for: a row of their table.
type wireWord struct {
	name, form string
	set        func(w *Wire, value string) error
	// text is the value as set reads it, empty for what need not be said.
	text func(*Wire) string
}

var wireWords = []wireWord{
	{"line", "on|off", (*Wire).setLine, func(*Wire) string { return "" }},
	{"delay", "DURATION", durationOf(func(w *Wire) *time.Duration { return &w.Delay }, MaxWireDelay), func(w *Wire) string { return durationText(w.Delay) }},
	{"rate", "RATE|none", (*Wire).setRate, func(w *Wire) string { return rateText(w.Rate) }},
	{"queue", "FRAMES", countOf(func(w *Wire) *int { return &w.Queue }, MaxWireQueue, false), func(w *Wire) string { return countText(w.Queue) }},
	{"loss", "SHARE|none", shareOf(func(w *Wire) *Share { return &w.Loss }), func(w *Wire) string { return w.Loss.String() }},
	{"duplicate", "SHARE|none", shareOf(func(w *Wire) *Share { return &w.Duplicate }), func(w *Wire) string { return w.Duplicate.String() }},
	{"reorder", "SHARE|none", shareOf(func(w *Wire) *Share { return &w.Reorder }), func(w *Wire) string { return w.Reorder.String() }},
	{"frames", "FRAMES|none", countOf(func(w *Wire) *int { return &w.Frames }, MaxWireFrames, true), func(w *Wire) string { return countText(w.Frames) }},
	{"wait", "DURATION", durationOf(func(w *Wire) *time.Duration { return &w.Wait }, MaxWireWait), func(w *Wire) string { return durationText(w.Wait) }},
}

// WireNames are what stands behind the knob "wire" and a dot, in the order in which
// a wire is written.
func WireNames() []string {
	names := make([]string, len(wireWords))
	for i, word := range wireWords {
		names[i] = word.name
	}
	return names
}

// With is the wire with one thing set as it is written: "delay" "100us", "rate"
// "100Mbit/s" or "none", "loss" "1%" or "1/100" or "none". Whatever is set has the
// delay line, a delay of 0 too; only "line" "off" takes it away, from a wire that
// does nothing else. An error says what would be right.
func (w Wire) With(name, value string) (Wire, error) {
	for _, word := range wireWords {
		if word.name != name {
			continue
		}
		line := name != "line"
		with := w
		if err := word.set(&with, value); err != nil {
			return w, fmt.Errorf("wire: %s: %w", name, err)
		}
		with.Line = with.Line || line
		return with, nil
	}
	return w, fmt.Errorf("wire: %s is nothing that a wire has: valid are %s", quoted(name), strings.Join(WireNames(), ", "))
}

// ParseWire reads "delay=100us,rate=100Mbit/s", and Checks it. The empty text is
// the zero Wire. Nothing may be given twice.
func ParseWire(s string) (Wire, error) {
	var w Wire
	if s == "" {
		return w, nil
	}
	if len(s) > maxText {
		return w, fmt.Errorf("wire: %d bytes of text are more than %d", len(s), maxText)
	}
	given := map[string]bool{}
	for _, item := range strings.Split(s, ",") {
		name, value, found := strings.Cut(item, "=")
		if !found {
			return Wire{}, fmt.Errorf("wire: %s: write NAME=VALUE, as in delay=100us,rate=1Gbit/s", quoted(item))
		}
		if given[name] {
			return Wire{}, fmt.Errorf("wire: %s is given twice", quoted(name))
		}
		given[name] = true
		var err error
		if w, err = w.With(name, value); err != nil {
			return Wire{}, err
		}
	}
	return w, w.Check()
}

// String is the wire as ParseWire reads it; empty for the zero Wire.
func (w Wire) String() string {
	var parts []string
	for _, word := range wireWords {
		if text := word.text(&w); text != "" {
			parts = append(parts, word.name+"="+text)
		}
	}
	if len(parts) == 0 && w.Line {
		return "line=" + string(On)
	}
	return strings.Join(parts, ",")
}

// Plain says that frames pass without a delay line.
func (w Wire) Plain() bool { return w == Wire{} }
