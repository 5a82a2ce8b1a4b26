package hist

import (
	"iter"
	"math"
	"math/bits"
)

// MaxValue is the largest latency that has a bucket of its own: 60 s in ns.
const MaxValue = 60_000_000_000

// The buckets are log-linear: each power of two is cut into 2^subBits equal
// parts, so that a bucket is at most 1/128 of its values wide, and its midpoint
// within 0.4% of each. Up to 255 ns each value has its bucket.
const subBits = 7

const (
	// underBucket holds values below 1 ns: no value from 1 up maps to index 0.
	underBucket = 0
	// overBucket follows MaxValue's, which is its 36-bit number's eight leading
	// bits plus 128 for each bit that is shifted out.
	overBucket  = maxShift<<subBits + MaxValue>>maxShift + 1
	bucketCount = overBucket + 1
	maxShift    = 36 - (subBits + 1)
)

// bucketOf is the index of the bucket of v, which must be from 1 to MaxValue.
// The subBits+1 leading bits of v, of which the first is always 1 once a shift
// is needed, are its place within the power of two.
func bucketOf(v int64) uint {
	shift := uint(bits.Len64(uint64(v)|1<<subBits)) - (subBits + 1)
	return shift<<subBits + uint(v)>>shift
}

// Bucket is a range of latencies in nanoseconds, both ends included.
type Bucket struct {
	Low, High int64
}

// bucketAt is the range of the bucket with that index. underBucket is the 1 ns
// that its values count as; overBucket has no upper end.
func bucketAt(i int) Bucket {
	switch i {
	case underBucket:
		return Bucket{1, 1}
	case overBucket:
		return Bucket{MaxValue + 1, math.MaxInt64}
	}
	shift := max(i>>subBits-1, 0)
	low := int64(i-shift<<subBits) << shift
	return Bucket{low, min(low+1<<shift-1, MaxValue)}
}

// Buckets yields every bucket that holds samples, with their number, from
// small to large. Ranges don't overlap. Samples below 1 ns are within the
// bucket of 1 ns; those above MaxValue are one bucket that ends at Max.
func (h *Hist) Buckets() iter.Seq2[Bucket, int64] {
	return func(yield func(Bucket, int64) bool) {
		for i := 1; i < bucketCount; i++ {
			c := h.counts[i]
			if i == 1 {
				c += h.counts[underBucket]
			}
			if c == 0 {
				continue
			}
			b := bucketAt(i)
			if i == overBucket {
				b.High = h.max
			}
			if !yield(b, int64(c)) {
				return
			}
		}
	}
}
