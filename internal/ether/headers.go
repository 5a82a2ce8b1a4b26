package ether

import "golang.org/x/sys/unix"

const (
	icmpHeader = 8
	udpHeader  = 8
	tcpMin     = 20
	// unknownHeaders is what is taken for headers where they are not known: all of
	// a short frame.
	unknownHeaders = 128
)

// headers is the bytes of a frame's headers, from Ethernet's to the transport's,
// as a card that splits them from the data would find them: where the packet is
// none of UDP, TCP or ICMP, or a later fragment, up to those of IP. It is never
// more than there are, and 0 only for a frame without a byte.
//
//go:nosplit
func headers(p []byte) int {
	kind, at := be16(p, typeAt), typeAt+2
	if kind == typeVLAN {
		kind, at = be16(p, typeAt+tagBytes), at+tagBytes
	}
	proto := byte(0)
	switch {
	case kind == typeIPv4 && at+ipv4Min <= len(p):
		if be16(p, at+6)&0x1fff == 0 {
			proto = p[at+9]
		}
		at += max(int(p[at]&0xf)*4, ipv4Min)
	case kind == typeIPv6 && at+ipv6Header <= len(p):
		proto = p[at+6]
		at += ipv6Header
	default:
		return min(unknownHeaders, len(p))
	}
	switch proto {
	case unix.IPPROTO_UDP:
		at += udpHeader
	case unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6:
		at += icmpHeader
	case unix.IPPROTO_TCP:
		if doff := at + 12; doff < len(p) {
			at += max(int(p[doff]>>4)*4, tcpMin)
		}
	}
	return min(at, len(p))
}
