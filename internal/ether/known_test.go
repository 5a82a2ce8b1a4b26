package ether

import (
	"bytes"
	"testing"
)

// ip4 is an Ethernet frame of n bytes with an IPv4 packet.
func ip4(n int, proto byte, fragment int, body ...byte) []byte {
	p := make([]byte, max(n, 34+len(body)))
	p[typeAt], p[typeAt+1] = typeIPv4>>8, typeIPv4&0xff
	p[14] = 0x45
	p[20], p[21] = byte(fragment>>8), byte(fragment)
	p[23] = proto
	copy(p[34:], body)
	return p
}

// ip6 is one with an IPv6 packet.
func ip6(next byte, body ...byte) []byte {
	p := make([]byte, 54+len(body))
	p[typeAt], p[typeAt+1] = typeIPv6>>8, typeIPv6&0xff
	p[14], p[20] = 0x60, next
	copy(p[54:], body)
	return p
}

// tagged puts a VLAN tag into a frame.
func tagged(p []byte) []byte {
	return append(append(bytes.Clone(p[:typeAt]), 0x81, 0, 0, 5), p[typeAt:]...)
}

func arp() []byte {
	p := make([]byte, 60)
	p[typeAt], p[typeAt+1] = 0x08, 0x06
	return p
}

const (
	icmp, tcp, udp, icmp6 = 1, 6, 17, 58
	hopByHop, routing     = 0, 43
	fragment6, noNext     = 44, 59
)

func TestKnownFrames(t *testing.T) {
	options := ip4(60, icmp, 0)
	options[14] = 0x46 // a header of 24 bytes
	options[38] = 8
	short := ip4(60, udp, 0)
	short[14] = 0x44
	wrong := ip4(60, udp, 0)
	wrong[14] = 0x65
	for _, c := range []struct {
		name  string
		frame []byte
		want  bool
	}{
		{"UDP", ip4(60, udp, 0), true},
		{"TCP", ip4(1514, tcp, 0x4000), true},
		{"UDP, first fragment", ip4(60, udp, 0x2000), true},
		{"UDP, last fragment", ip4(60, udp, 185), true},
		{"echo request", ip4(60, icmp, 0, 8), true},
		{"echo answer", ip4(60, icmp, 0, 0), true},
		{"echo behind options", options, true},
		{"later fragment of an echo", ip4(60, icmp, 185, 77), true},
		{"unreachable", ip4(60, icmp, 0, 3), false},
		{"ICMP without a type", ip4(34, icmp, 0), false},
		{"IGMP", ip4(60, 2, 0), false},
		{"a header too short", short, false},
		{"version 6 in IPv4", wrong, false},
		{"tagged UDP", tagged(ip4(60, udp, 0)), true},
		{"two tags", tagged(tagged(ip4(60, udp, 0))), false},
		{"ARP", arp(), false},
		{"tagged ARP", tagged(arp()), false},
		{"IPv6 UDP", ip6(udp), true},
		{"IPv6 TCP, tagged", tagged(ip6(tcp)), true},
		{"IPv6 echo request", ip6(icmp6, 128), true},
		{"IPv6 echo answer", ip6(icmp6, 129), true},
		{"neighbour solicitation", ip6(icmp6, 135), false},
		{"neighbour advertisement", ip6(icmp6, 136), false},
		{"router solicitation", ip6(icmp6, 133), false},
		{"multicast report", ip6(hopByHop, icmp6, 0, 5, 2, 0, 0, 1, 0, 143), false},
		{"UDP behind options", ip6(hopByHop, routing, 0, 1, 4, 0, 0, 0, 0, udp, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), true},
		{"first fragment of UDP", ip6(fragment6, udp, 0, 0, 1, 0, 0, 0, 7), true},
		{"first fragment of a solicitation", ip6(fragment6, icmp6, 0, 0, 1, 0, 0, 0, 7, 135), false},
		{"later fragment of an echo", ip6(fragment6, icmp6, 0, 5, 0xa8, 0, 0, 0, 7), true},
		{"later fragment of something", ip6(fragment6, 89, 0, 5, 0xa8, 0, 0, 0, 7), false},
		{"no next header", ip6(noNext), false},
		{"cut in a header", ip6(hopByHop, udp), false},
		{"nothing", nil, false},
		{"an Ethernet header", make([]byte, 14), false},
	} {
		if got := known(c.frame); got != c.want {
			t.Errorf("%s: known = %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzKnown: whatever comes from a TAP is looked at within its bounds, and what
// follows a header that settles it does not matter.
func FuzzKnown(f *testing.F) {
	f.Add(ip4(60, udp, 0), byte(0))
	f.Add(tagged(ip6(hopByHop, routing, 0, 1, 4, 0, 0, 0, 0)), byte(1))
	f.Add(ip6(fragment6, icmp6, 0, 5), byte(2))
	f.Add([]byte{1, 2, 3}, byte(3))
	f.Fuzz(func(t *testing.T, p []byte, more byte) {
		got := known(p)
		if got && !known(append(bytes.Clone(p), more)) {
			t.Fatalf("%x is known, and with a byte more it is not", p)
		}
		// The same behind a tag, but for what has one already.
		if len(p) >= typeAt+2 && be16(p, typeAt) != typeVLAN && known(tagged(p)) != got {
			t.Fatalf("%x: known = %v, with a tag it is not so", p, got)
		}
	})
}
