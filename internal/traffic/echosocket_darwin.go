package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Every user may have ICMP datagram sockets (icmp(4) of macOS).
const (
	echoKind     = unix.SOCK_DGRAM
	echoKindName = "ICMP datagram socket"
	echoAdvice   = ""
)

// skipHeader has the kernel leave out the IP header that it puts before an ICMP
// message even on a datagram socket (IP_STRIPHDR of netinet/in.h), and returns
// how many bytes of it are left.
func (s *socket) skipHeader(int) (int, error) {
	if err := unix.SetsockoptInt(int(s.Sock), unix.IPPROTO_IP, unix.IP_STRIPHDR, 1); err != nil {
		return 0, fmt.Errorf("have a %s leave out IP headers (setsockopt IP_STRIPHDR): %w", s.what, err)
	}
	return 0, nil
}
