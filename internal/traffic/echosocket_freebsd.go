package traffic

import "golang.org/x/sys/unix"

// There are no ICMP datagram sockets (icmp(4) of FreeBSD).
const (
	echoKind     = unix.SOCK_RAW
	echoKindName = "raw ICMP socket"
	echoAdvice   = " (it takes root)"
)

// skipHeader returns how many bytes of IP header come before an ICMP message:
// a raw socket delivers all of it.
func (s *socket) skipHeader(before int) (int, error) { return before, nil }
