package spec

import "math"

// Limit is what ends the window of one end of the test before its time, as
// that end counts it: so many messages, or so many bytes; 0 for no such limit.
//
// A TCP connection has no messages that its receiver would see, so that a
// count is one of bytes there. Round trips count messages: bytes of one
// direction are those of the one that has more.
func (t Test) Limit() (messages, bytes int64) {
	k := t.Kind()
	count := int64(t.Params.Count)
	switch {
	case k.IsStream() && k.Protocol == TCP && count > 0:
		return 0, product(count, int64(t.RequestSize()))
	case k.IsStream():
		return count, int64(t.Params.Bytes)
	case t.Params.Bytes > 0:
		size := max(t.RequestSize(), t.ResponseSize())
		return int64((t.Params.Bytes-1)/size + 1), 0
	}
	return count, 0
}

// product is a * b, both above 0, or the largest number if that is too large.
func product(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
