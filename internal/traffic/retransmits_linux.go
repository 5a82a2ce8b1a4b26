//go:build !portable

package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// tellsRetransmits says whether this system tells how many segments a
// connection has sent again.
const tellsRetransmits = true

// retransmits is that number since the connection was made, modulo 2^32
// (TCP_INFO of tcp(7)).
func (s *socket) retransmits() (uint32, error) {
	info, err := unix.GetsockoptTCPInfo(int(s.Sock), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, fmt.Errorf("read the retransmissions of a %s (getsockopt TCP_INFO): %w", s.what, err)
	}
	return info.Total_retrans, nil
}
