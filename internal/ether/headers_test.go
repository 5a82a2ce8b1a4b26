package ether

import (
	"slices"
	"testing"
)

// ipv4Of and ipv6Of are headers with a protocol, for frames.
func ipv4Of(words, proto byte, fragment uint16) []byte {
	p := make([]byte, int(words)*4)
	p[0], p[9] = 0x40|words, proto
	p[6], p[7] = byte(fragment>>8), byte(fragment)
	return p
}

func ipv6Of(next byte) []byte {
	p := make([]byte, 40)
	p[0], p[6] = 0x60, next
	return p
}

func tcpOf(words byte) []byte {
	p := make([]byte, int(words)*4)
	p[12] = words << 4
	return p
}

func TestHeaders(t *testing.T) {
	ethernet := func(kind ...byte) []byte { return append(make([]byte, 12), kind...) }
	e4, e6 := ethernet(8, 0), ethernet(0x86, 0xdd)
	tagged := ethernet(0x81, 0, 0, 1, 8, 0)
	data := make([]byte, 1000)
	for _, c := range []struct {
		name  string
		frame []byte
		want  int
	}{
		{"UDP", slices.Concat(e4, ipv4Of(5, 17, 0), make([]byte, 8), data), 42},
		{"UDP without data", slices.Concat(e4, ipv4Of(5, 17, 0), make([]byte, 8)), 42},
		{"first fragment", slices.Concat(e4, ipv4Of(5, 17, 0x2000), make([]byte, 8), data), 42},
		{"later fragment", slices.Concat(e4, ipv4Of(5, 17, 0x2001), data), 34},
		{"IP options", slices.Concat(e4, ipv4Of(15, 17, 0), make([]byte, 8), data), 82},
		{"TCP", slices.Concat(e4, ipv4Of(5, 6, 0), tcpOf(5), data), 54},
		{"TCP options", slices.Concat(tagged, ipv4Of(5, 6, 0), tcpOf(15), data), 98},
		{"TCP that lies", slices.Concat(e4, ipv4Of(5, 6, 0), make([]byte, 40)), 54},
		{"ICMP", slices.Concat(e4, ipv4Of(5, 1, 0), data), 42},
		{"another protocol", slices.Concat(e4, ipv4Of(5, 47, 0), data), 34},
		{"UDP by IPv6", slices.Concat(e6, ipv6Of(17), data), 62},
		{"ICMP by IPv6", slices.Concat(e6, ipv6Of(58), data), 62},
		{"TCP by IPv6", slices.Concat(e6, ipv6Of(6), tcpOf(8), data), 86},
		{"an extension header", slices.Concat(e6, ipv6Of(0), data), 54},
		{"ARP", slices.Concat(ethernet(8, 6), make([]byte, 28)), 42},
		{"an unknown type", slices.Concat(ethernet(0x88, 0xb5), data), unknownHeaders},
		{"cut in TCP", slices.Concat(e4, ipv4Of(5, 6, 0), make([]byte, 4)), 34},
		{"cut in IP", slices.Concat(e4, make([]byte, 3)), 17},
		{"nothing", nil, 0},
	} {
		if got := headers(c.frame); got != c.want {
			t.Errorf("%s: %d bytes of headers, want %d", c.name, got, c.want)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add([]byte{})
	f.Add(append(make([]byte, 12), 8, 0, 0x4f))
	f.Add(append(make([]byte, 12), 0x81, 0, 0, 0, 0x86, 0xdd, 0x60))
	f.Fuzz(func(t *testing.T, p []byte) {
		if n := headers(p); n < 0 || n > len(p) || n == 0 && len(p) > 0 {
			t.Errorf("%d bytes of headers in %d", n, len(p))
		}
	})
}
