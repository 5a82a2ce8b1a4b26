// Package hist records latencies: a histogram with fixed log-linear buckets,
// exact extremes and an exact sum. A sample costs a few nanoseconds and no
// allocation, so that recording can stand inside a measured loop.
//
// A Hist belongs to one thread. Each thread records into its own, and Merge
// puts them together afterwards; merging loses nothing.
package hist

// Hist is a histogram of latencies in nanoseconds, from 1 ns to MaxValue. The
// zero Hist is empty and ready to use, but New is better for a measurement.
//
// Counts are 64 bits wide. At one sample per nanosecond they would last for
// 500 years, and for 32768 merges of the largest histograms that UnmarshalJSON
// accepts, so nothing here checks for their overflow.
type Hist struct {
	n      uint64
	min    int64 // as counted, so at least 1; 0 while n is 0
	max    int64
	sum    wide
	counts [bucketCount]uint64
}

// New returns an empty Hist all of whose memory has been written once, so that
// the kernel has real pages behind it and Record takes no page fault.
func New() *Hist {
	h := new(Hist)
	h.Reset()
	return h
}

// Record counts one latency, in nanoseconds. Nothing is ever left out: a value
// below 1 (a clock too coarse, or one that stepped back) counts as 1 ns and in
// Under, one above MaxValue counts in Over with its true value in Max and Mean.
func (h *Hist) Record(ns int64) {
	i := uint(overBucket)
	switch {
	case ns < 1:
		ns, i = 1, underBucket
	case ns <= MaxValue:
		i = bucketOf(ns)
	}
	h.counts[i]++
	if ns < h.min || h.n == 0 {
		h.min = ns
	}
	if ns > h.max {
		h.max = ns
	}
	h.n++
	h.sum.add(uint64(ns))
}

// Merge adds all samples of other, as if each had been recorded here. A nil
// other adds nothing.
func (h *Hist) Merge(other *Hist) {
	if other == nil || other.n == 0 {
		return
	}
	if other.min < h.min || h.n == 0 {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.n += other.n
	h.sum.addWide(other.sum)
	for i, c := range other.counts {
		h.counts[i] += c
	}
}

// Reset empties the histogram and keeps its memory.
func (h *Hist) Reset() { *h = Hist{} }

// Count is the number of samples.
func (h *Hist) Count() int64 { return int64(h.n) }

// Under is the number of samples below 1 ns, which are counted as 1 ns.
func (h *Hist) Under() int64 { return int64(h.counts[underBucket]) }

// Over is the number of samples above MaxValue.
func (h *Hist) Over() int64 { return int64(h.counts[overBucket]) }

// Min is the smallest sample in nanoseconds, exactly, and at least 1; 0 when
// there is none.
func (h *Hist) Min() int64 { return h.min }

// Max is the largest sample in nanoseconds, exactly, also where it is above
// MaxValue; 0 when there is none.
func (h *Hist) Max() int64 { return h.max }

// Equal reports whether both hold the same samples, as far as a Hist can
// tell samples apart. A nil Hist equals only a nil one. It is what go-cmp uses.
func (h *Hist) Equal(other *Hist) bool {
	if h == nil || other == nil {
		return h == other
	}
	return *h == *other
}
