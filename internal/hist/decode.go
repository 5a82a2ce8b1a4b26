package hist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// decode reads the binary form and refuses what appendTo would not write.
func decode(raw []byte) (*Hist, error) {
	if len(raw) == 0 {
		return nil, errors.New("empty")
	}
	if raw[0] != version {
		return nil, fmt.Errorf("version %d is not known: this program reads version %d", raw[0], version)
	}
	h := new(Hist)
	r := reader{rest: raw[1:]}
	buckets := r.number("number of buckets", 0, bucketCount)
	if buckets > 0 {
		h.read(&r, buckets)
	}
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%d bytes follow the end", len(r.rest))
	}
	if r.err != nil {
		return nil, r.err
	}
	return h, nil
}

// read reads everything after the number of buckets, which is at least one.
func (h *Hist) read(r *reader, buckets uint64) {
	first, last := -1, 0
	for range buckets {
		step := uint64(1)
		if first < 0 {
			step = 0
		}
		last += int(r.number("bucket", step, uint64(overBucket-last)))
		count := r.number("count", 1, maxSamples-h.n)
		if r.err != nil {
			return
		}
		if first < 0 {
			first = last
		}
		h.counts[last] = count
		h.n += count
	}
	low, high := bucketAt(first), bucketAt(last)
	h.min = int64(r.number("minimum", uint64(low.Low), uint64(low.High)))
	h.max = int64(r.number("maximum", uint64(max(high.Low, h.min)), uint64(high.High)))
	h.sum.hi = r.number("sum", 0, math.MaxUint64)
	h.sum.lo = r.number("sum", 0, math.MaxUint64)
	if r.err == nil {
		r.err = h.checkSum(first, last)
	}
}

// checkSum says whether the samples in the buckets from first to last can have
// that sum: one of them is the minimum, one the maximum, and the others are
// anywhere within their buckets and between the two.
func (h *Hist) checkSum(first, last int) error {
	if h.n == 1 && h.min != h.max {
		return fmt.Errorf("one sample can't be both %d and %d ns", h.min, h.max)
	}
	var least, most wide
	for i := first; i <= last; i++ {
		b := bucketAt(i)
		low, high := max(b.Low, h.min), min(b.High, h.max)
		others := h.counts[i]
		if i == first {
			others--
			least.add(uint64(h.min))
			most.add(uint64(h.min))
		}
		if i == last && h.n > 1 {
			others--
			least.add(uint64(h.max))
			most.add(uint64(h.max))
		}
		least.addTimes(others, low)
		most.addTimes(others, high)
	}
	if h.sum.less(least) || most.less(h.sum) {
		return fmt.Errorf("sum does not fit the %d samples", h.n)
	}
	return nil
}

// reader takes numbers off the front of rest until the first error.
type reader struct {
	rest []byte
	err  error
}

// number takes one varint and checks its range; 0 after an error.
func (r *reader) number(what string, low, high uint64) uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.rest)
	switch {
	case n == 0:
		r.err = fmt.Errorf("cut off at a %s", what)
	case n < 0:
		r.err = fmt.Errorf("%s is longer than 64 bits", what)
	case n > 1 && r.rest[n-1] == 0:
		r.err = fmt.Errorf("%s is written with more bytes than it needs", what)
	case v < low || v > high:
		r.err = fmt.Errorf("%s %d is out of range: %d to %d", what, v, low, high)
	default:
		r.rest = r.rest[n:]
		return v
	}
	return 0
}
