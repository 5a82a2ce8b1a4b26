package ether

import "golang.org/x/sys/unix"

// Offsets and values that tell what a frame carries (IEEE 802.3, 802.1Q; RFC 791,
// 8200, 792 and 4443).
const (
	typeAt     = 12 // of the EtherType, or of a VLAN tag
	tagBytes   = 4
	ipv4Min    = 20
	ipv6Header = 40

	typeIPv4 = 0x0800
	typeIPv6 = 0x86dd
	typeVLAN = 0x8100

	echoReply4, echoRequest4 = 0, 8
	echoRequest6, echoReply6 = 128, 129

	// maxExtensions is how many extension headers of IPv6 are looked behind.
	maxExtensions = 8
)

// known tells whether a frame, from its Ethernet header on, carries UDP, TCP or
// an ICMP echo over IPv4 or IPv6, in fragments or not, behind one VLAN tag or none.
// Only such frames are lost, doubled or reordered on purpose: without those that
// find neighbours, a path would not lose a share but break down.
//
//go:nosplit
func known(p []byte) bool {
	kind, at := be16(p, typeAt), typeAt+2
	if kind == typeVLAN {
		kind, at = be16(p, typeAt+tagBytes), at+tagBytes
	}
	switch {
	case at > len(p):
		return false
	case kind == typeIPv4:
		return known4(p[at:])
	case kind == typeIPv6:
		return known6(p[at:])
	}
	return false
}

//go:nosplit
func known4(p []byte) bool {
	if len(p) < ipv4Min || p[0]>>4 != 4 {
		return false
	}
	header := int(p[0]&0xf) * 4
	if header < ipv4Min {
		return false
	}
	first := be16(p, 6)&0x1fff == 0 // the fragment's offset
	switch p[9] {
	case unix.IPPROTO_UDP, unix.IPPROTO_TCP:
		return true
	case unix.IPPROTO_ICMP:
		// What is long enough for fragments is an echo.
		return !first || len(p) > header && (p[header] == echoRequest4 || p[header] == echoReply4)
	}
	return false
}

//go:nosplit
func known6(p []byte) bool {
	if len(p) < ipv6Header || p[0]>>4 != 6 {
		return false
	}
	next, at := p[6], ipv6Header
	for range maxExtensions {
		switch next {
		case unix.IPPROTO_UDP, unix.IPPROTO_TCP:
			return true
		case unix.IPPROTO_ICMPV6:
			return at < len(p) && (p[at] == echoRequest6 || p[at] == echoReply6)
		case unix.IPPROTO_HOPOPTS, unix.IPPROTO_ROUTING, unix.IPPROTO_DSTOPTS:
			if at+2 > len(p) {
				return false
			}
			next, at = p[at], at+8+8*int(p[at+1])
		case unix.IPPROTO_FRAGMENT:
			if at+8 > len(p) {
				return false
			}
			if be16(p, at+2)&^7 != 0 { // not the first: what follows is no header
				// Neighbour discovery is never in fragments (RFC 6980).
				return p[at] == unix.IPPROTO_UDP || p[at] == unix.IPPROTO_TCP || p[at] == unix.IPPROTO_ICMPV6
			}
			next, at = p[at], at+8
		default:
			return false
		}
	}
	return false
}

// be16 is the number in network byte order at an offset, 0 where there is none.
//
//go:nosplit
func be16(p []byte, at int) int {
	if at+2 > len(p) {
		return 0
	}
	return int(p[at])<<8 | int(p[at+1])
}
