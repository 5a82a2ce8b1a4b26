package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// bindToDevice has what the socket sends leave by one interface (IP_BOUND_IF
// and IPV6_BOUND_IF of netinet/in.h).
func (s *socket) bindToDevice(device string, v4 bool) error {
	index, err := sys.InterfaceIndex(int(s.Sock), device)
	if err != nil {
		return refused(fmt.Errorf("bind a %s to a device: %w", s.what, err))
	}
	name, level, option := "IP_BOUND_IF", unix.IPPROTO_IP, unix.IP_BOUND_IF
	if !v4 {
		name, level, option = "IPV6_BOUND_IF", unix.IPPROTO_IPV6, unix.IPV6_BOUND_IF
	}
	if err := unix.SetsockoptInt(int(s.Sock), level, option, int(index)); err != nil {
		return s.refusedOption(name, device, "", err)
	}
	return nil
}

func (s *socket) setCongestion(string) error { return s.noOption("TCP_CONGESTION", "Linux or FreeBSD") }
