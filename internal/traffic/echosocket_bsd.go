//go:build darwin || freebsd

package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// openEcho makes a socket that gets every echo reply of the peer, whoever asked
// for it: their identifiers tell them apart.
func openEcho(cfg Config, f echoFamily) (echoSocket, error) {
	s, err := openSocket(cfg, echoKind, f.protocol, echoKindName)
	if err != nil {
		return echoSocket{}, fmt.Errorf("send ICMP echo requests: %w%s", err, echoAdvice)
	}
	before := f.rawHeader
	if f.protocol == unix.IPPROTO_ICMPV6 {
		err = s.filterEcho6(f.reply)
	} else {
		before, err = s.skipHeader(before)
	}
	if err != nil {
		s.close()
		return echoSocket{}, err
	}
	return echoSocket{socket: s, before: before}, nil
}

// filterEcho6 has the kernel deliver only ICMPv6 messages of a type, of which a
// bit that is set lets one pass (RFC 3542, 3.2, as these systems have it).
func (s *socket) filterEcho6(kind byte) error {
	var f unix.ICMPv6Filter
	f.Filt[kind/32] |= 1 << (kind % 32)
	if err := unix.SetsockoptICMPv6Filter(int(s.Sock), unix.IPPROTO_ICMPV6, unix.ICMP6_FILTER, &f); err != nil {
		return fmt.Errorf("filter what a %s receives (setsockopt ICMP6_FILTER): %w", s.what, err)
	}
	return nil
}
