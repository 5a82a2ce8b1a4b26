package spec

import (
	"math"
	"testing"
)

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		test            string
		params          Params
		messages, bytes int64
	}{
		{"udp_rr", Params{}, 0, 0},
		{"udp_rr", Params{Count: 7, Size: 100}, 7, 0},
		{"icmp_echo", Params{Bytes: 57}, 2, 0},
		{"tcp_rr", Params{Bytes: 1000, Request: 1, Response: 100}, 10, 0},
		{"tcp_rr", Params{Bytes: 1001, Request: 100}, 11, 0},
		{"tcp_crr", Params{Count: 1}, 1, 0},
		{"udp_stream", Params{Count: 9, Size: 100}, 9, 0},
		{"udp_stream", Params{Bytes: 950, Size: 100}, 0, 950},
		{"tcp_stream", Params{Count: 9, Size: 100}, 0, 900},
		{"tcp_maerts", Params{Bytes: 9, Size: 100}, 0, 9},
		{"tcp_bidir", Params{Count: 1 << 53, Size: MaxMessage}, 0, math.MaxInt64},
		{"wake", Params{Count: 3}, 3, 0},
	} {
		test, err := NewTest(c.test, c.params)
		if err != nil {
			t.Fatal(err)
		}
		if m, b := test.Limit(); m != c.messages || b != c.bytes {
			t.Errorf("%v: %d messages, %d bytes; want %d, %d", test, m, b, c.messages, c.bytes)
		}
	}
}
