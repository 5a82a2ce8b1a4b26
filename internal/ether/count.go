package ether

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Count numbers what one direction of a wire counts.
type Count int

// FramesIn and Duplicated come first, so that a snapshot taken from the last
// count to the first never shows more frames leave than enter.
const (
	FramesIn   Count = iota
	Duplicated       // copies that the line has made
	BytesIn
	FramesOut
	BytesOut
	Wakeups
	DropTooLong   // longer than the wire's MTU allows
	DropRingFull  // the second thread is behind
	DropQueueFull // the far interface takes no more, or has no memory
	DropLinkDown  // the far interface is down
	DropRefused   // the far kernel found the frame malformed
	DropPortGone  // the far interface no longer exists
	DropOther     // any other error of the write
	DropLoss      // lost on purpose
	DropQueue     // the queue for the line is full
	KnownFrames   // read, of those that shares are of
	Reordered     // put behind the next one on purpose
	Runs          // handler runs
	HeldFrames    // written after the delay line
	HeldNS        // ns that those were held, from read to write
	// Late is the first of LateBuckets counts of the frames that the line wrote,
	// by how long after their due time: up to 1, 2, 5, 10, 20, 50 and 100 us, and
	// later than that.
	Late
	// Batch is the first of BatchBuckets counts: Batch+k has the sampled
	// batches of 2^k to 2^(k+1)-1 frames, the last one those of more too. A
	// batch is what the reading thread finds from one wait to the next.
	Batch = Late + Count(LateBuckets)
)

// LateBuckets is the number of counts from Late on.
const LateBuckets = len(lateBounds) + 1

// lateBounds are the ends of the buckets of lateness, in ns.
var lateBounds = [...]int64{1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000}

// BatchBuckets is the number of counts from Batch on.
const BatchBuckets = 12

const numCounts = int(Batch) + BatchBuckets

// countNames is the table of names, by Count.
var countNames = [numCounts]string{
	FramesIn:      "frames_in",
	Duplicated:    "duplicated",
	BytesIn:       "bytes_in",
	FramesOut:     "frames_out",
	BytesOut:      "bytes_out",
	Wakeups:       "wakeups",
	DropTooLong:   "drop_too_long",
	DropRingFull:  "drop_ring_full",
	DropQueueFull: "drop_queue_full",
	DropLinkDown:  "drop_link_down",
	DropRefused:   "drop_refused",
	DropPortGone:  "drop_port_gone",
	DropOther:     "drop_other",
	DropLoss:      "drop_loss",
	DropQueue:     "drop_queue",
	KnownFrames:   "known_frames",
	Reordered:     "reordered",
	Runs:          "runs",
	HeldFrames:    "held_frames",
	HeldNS:        "held_ns",
	Late + 0:      "late_1us",
	Late + 1:      "late_2us",
	Late + 2:      "late_5us",
	Late + 3:      "late_10us",
	Late + 4:      "late_20us",
	Late + 5:      "late_50us",
	Late + 6:      "late_100us",
	Late + 7:      "late_more",
	Batch + 0:     "batch_1",
	Batch + 1:     "batch_2",
	Batch + 2:     "batch_4",
	Batch + 3:     "batch_8",
	Batch + 4:     "batch_16",
	Batch + 5:     "batch_32",
	Batch + 6:     "batch_64",
	Batch + 7:     "batch_128",
	Batch + 8:     "batch_256",
	Batch + 9:     "batch_512",
	Batch + 10:    "batch_1024",
	Batch + 11:    "batch_2048",
}

// String is the count's name in reports, "?" for none.
func (c Count) String() string {
	if c < 0 || int(c) >= numCounts {
		return "?"
	}
	return countNames[c]
}

// batchBucket is the count that a batch of n frames, at least 1, falls into.
func batchBucket(n int) Count {
	return Batch + Count(min(bits.Len(uint(n))-1, BatchBuckets-1))
}

// Direction has the counts of one direction, since the wire's start. Frames
// are counted as they pass the descriptors: with a virtio-net header one
// frame can stand for many packets. Bytes run from the Ethernet header on,
// without a virtio-net header.
//
// Wakeups are the times that the reading thread went to sleep for want of a
// frame, as the kernel counts them (voluntary context switches, proc(5)).
// Batch sizes are those of a sample, about one batch for every 61 frames;
// they stay 0 where the kernel cannot tell (before Linux 5.9), and on a wire with
// a delay line, whose thread also sleeps for frames to be due.
//
// Runs are the times that frames were handed over, one or many: by a delay line as
// its mitigation has it, and where it has none, each burst that is written without
// waiting between. On a wire that holds nothing back they are the wake-ups.
type Direction [numCounts]uint64

// Dropped is the sum over all causes.
func (d *Direction) Dropped() uint64 {
	var n uint64
	for c := DropTooLong; c <= DropQueue; c++ {
		n += d[c]
	}
	return n
}

// InFlight is the frames read, and their copies, that are neither written nor
// dropped yet. It is 0 when the direction is idle.
func (d *Direction) InFlight() uint64 {
	return d[FramesIn] + d[Duplicated] - d[FramesOut] - d.Dropped()
}

// Since is what was counted after an earlier snapshot.
func (d *Direction) Since(earlier *Direction) Direction {
	var diff Direction
	for c := range d {
		diff[c] = d[c] - earlier[c]
	}
	return diff
}

// Stats is a snapshot of a wire. Its counts are taken one after the other
// while frames pass, so only an idle wire's agree to the frame.
type Stats struct {
	AToB Direction
	BToA Direction
}

// Since is what was counted after an earlier snapshot of the same wire.
func (s *Stats) Since(earlier *Stats) Stats {
	return Stats{AToB: s.AToB.Since(&earlier.AToB), BToA: s.BToA.Since(&earlier.BToA)}
}

// Counts names what is not 0: "a_to_b.frames_in" and so on.
func (s *Stats) Counts() map[string]int64 {
	all := map[string]int64{}
	for c := range numCounts {
		if n := s.AToB[c]; n != 0 {
			all["a_to_b."+countNames[c]] = int64(n)
		}
		if n := s.BToA[c]; n != 0 {
			all["b_to_a."+countNames[c]] = int64(n)
		}
	}
	return all
}

// statsSize is the bytes of an encoded snapshot.
const statsSize = 2 * numCounts * 8

// append adds the snapshot's bytes to p, allocating nothing if they fit.
func (s *Stats) append(p []byte) []byte {
	for _, d := range [...]*Direction{&s.AToB, &s.BToA} {
		for _, n := range d {
			p = binary.LittleEndian.AppendUint64(p, n)
		}
	}
	return p
}

// decodeStats reads what append wrote.
func decodeStats(p []byte) (Stats, error) {
	if len(p) != statsSize {
		return Stats{}, fmt.Errorf("wire counts: %d bytes, expected %d", len(p), statsSize)
	}
	var s Stats
	for _, d := range [...]*Direction{&s.AToB, &s.BToA} {
		for c := range d {
			d[c] = binary.LittleEndian.Uint64(p)
			p = p[8:]
		}
	}
	return s, nil
}
