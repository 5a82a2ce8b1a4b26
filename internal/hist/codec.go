package hist

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// The encoded form is the base64 (RFC 4648, no padding) of
//
//	version          one byte, 1
//	buckets          number of buckets that hold samples; 0 ends the form
//	index, count     of each: the index as its distance from the one before
//	                 (the first as it is), in rising order
//	min, max         in ns
//	sum              high and low 64 bits, in ns
//
// all but the version as unsigned varints (encoding/binary) of the least
// length. A histogram has exactly one such form. The version covers the
// buckets' bounds as well.
const version = 1

// maxSamples is the most samples that are read back: a recorder that never
// rests needs more than a week for so many. It keeps merges from overflow.
const maxSamples = 1 << 48

// maxEncoded is the longest binary form: two bytes of index and seven of count
// for every bucket, and five more numbers.
const maxEncoded = 1 + bucketCount*(2+7) + 5*binary.MaxVarintLen64

// MarshalJSON writes the whole histogram as one JSON string. What is read
// back from it is Equal.
func (h *Hist) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	if h.n > maxSamples {
		return nil, fmt.Errorf("latency histogram: %d samples are more than the %d that could be read back", h.n, int64(maxSamples))
	}
	text := []byte{'"'}
	text = base64.RawStdEncoding.AppendEncode(text, h.appendTo(nil))
	return append(text, '"'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote and checks everything that can be
// checked: whatever it accepts, some run could have recorded. On an error the
// histogram is left as it was; null is no change.
func (h *Hist) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) > base64.RawStdEncoding.EncodedLen(maxEncoded)+len(`""`) {
		return fmt.Errorf("latency histogram: %d bytes are more than any histogram takes", len(data))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("latency histogram: a string is needed: %w", err)
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("latency histogram: %w", err)
	}
	// The decoder is lax about line ends and unused bits.
	if base64.RawStdEncoding.EncodeToString(raw) != text {
		return errors.New("latency histogram: base64 is not in its plain form")
	}
	read, err := decode(raw)
	if err != nil {
		return fmt.Errorf("latency histogram: %w", err)
	}
	*h = *read
	return nil
}

// appendTo appends the binary form.
func (h *Hist) appendTo(b []byte) []byte {
	b = append(b, version)
	var buckets uint64
	for _, c := range h.counts {
		if c > 0 {
			buckets++
		}
	}
	b = binary.AppendUvarint(b, buckets)
	if buckets == 0 {
		return b
	}
	before := 0
	for i, c := range h.counts {
		if c > 0 {
			b = binary.AppendUvarint(b, uint64(i-before))
			b = binary.AppendUvarint(b, c)
			before = i
		}
	}
	b = binary.AppendUvarint(b, uint64(h.min))
	b = binary.AppendUvarint(b, uint64(h.max))
	b = binary.AppendUvarint(b, h.sum.hi)
	return binary.AppendUvarint(b, h.sum.lo)
}
