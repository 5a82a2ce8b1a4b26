package hist

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The buckets follow each other from 1 ns to MaxValue without a gap, each
// holds just the values that bucketOf maps to it, and its midpoint is near
// all of them.
func TestBucketsCoverTheRange(t *testing.T) {
	next := int64(1)
	for i := 1; i < overBucket; i++ {
		b := bucketAt(i)
		if b.Low != next || b.High < b.Low {
			t.Fatalf("bucket %d is %v, should begin at %d", i, b, next)
		}
		for _, v := range []int64{b.Low, b.Low + (b.High-b.Low)/2, b.High} {
			if got := bucketOf(v); got != uint(i) {
				t.Fatalf("%d is in bucket %d, should be in %d = %v", v, got, i, b)
			}
		}
		if half := float64(b.High-b.Low) / 2; half > 0.004*float64(b.Low) {
			t.Fatalf("bucket %v is too wide: its midpoint is %v from its ends", b, half)
		}
		next = b.High + 1
	}
	if next != MaxValue+1 {
		t.Fatalf("the last bucket ends at %d, not at %d", next-1, int64(MaxValue))
	}
	if b := bucketAt(overBucket); b.Low != next || b.High != math.MaxInt64 {
		t.Fatalf("the bucket above the range is %v", b)
	}
}

// Buckets yields all samples, in order, in ranges that don't overlap, and
// stops when it is told to.
func TestBucketsIterator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New()
		for range rapid.IntRange(1, 100).Draw(t, "n") {
			h.Record(rapid.Int64().Draw(t, "bits") >> rapid.IntRange(0, 63).Draw(t, "shift"))
		}
		var total, end int64
		for b, c := range h.Buckets() {
			if b.Low <= end || b.High < b.Low || c < 1 {
				t.Fatalf("bucket %v with %d samples after one that ends at %d", b, c, end)
			}
			if total == 0 && (h.Min() < b.Low || h.Min() > b.High) {
				t.Fatalf("the minimum %d is not in the first bucket %v", h.Min(), b)
			}
			total, end = total+c, b.High
		}
		if total != h.Count() || h.Max() > end {
			t.Fatalf("buckets up to %d hold %d of %d samples up to %d", end, total, h.Count(), h.Max())
		}
		for range h.Buckets() {
			break
		}
	})
}
