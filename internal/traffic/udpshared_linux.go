package traffic

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
)

// WarnFlowSpread: the kernel shares the flows out to the receiving threads by
// chance.
const WarnFlowSpread = "flow-spread"

// openShared opens n UDP sockets at one port (SO_REUSEPORT of socket(7)), of
// which each gets what comes from source ports of one remainder modulo n: see
// openFlowPorts.
func openShared(cfg Config, n int) (sockets []*socket, port uint16, err error) {
	// The first one does not share its port with anybody who is there already:
	// that could be another trial.
	s, port, err := openUDP(cfg)
	if err != nil {
		return nil, 0, err
	}
	if sockets = append(sockets, s); n == 1 {
		return sockets, port, nil
	}
	if err := s.reusePort(); err != nil {
		return sockets, port, err
	}
	for len(sockets) < n {
		s, err := openSocket(cfg, unix.SOCK_DGRAM, unix.IPPROTO_UDP, "UDP socket")
		if err != nil {
			return sockets, port, err
		}
		sockets = append(sockets, s)
		if err := s.reusePort(); err != nil {
			return sockets, port, err
		}
		if _, err := s.bind(cfg.Addr, port); err != nil {
			return sockets, port, fmt.Errorf("for thread %d of %d: %w", len(sockets), n, err)
		}
	}
	if err := shareOut(s, cfg.Addr.Is4(), n); err != nil {
		s.warnings = append(s.warnings, result.Warning{Code: WarnFlowSpread,
			Text:   fmt.Sprintf("the kernel shares the flows out to the %d receiving threads by chance: %v", n, err),
			Advice: "this needs Linux 4.5 or later (SO_ATTACH_REUSEPORT_CBPF); use many more flows than threads"})
	}
	return sockets, port, nil
}

// reusePort lets sockets of one user share a port.
func (s *socket) reusePort() error {
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return fmt.Errorf("set SO_REUSEPORT of a %s: %w", s.what, err)
	}
	return nil
}

// skfNetOff is SKF_NET_OFF of linux/filter.h: where a program for sockets finds
// the network header.
const skfNetOff = 1<<32 - 0x100000

// shareOut has the kernel give a datagram to the socket, of the n that share
// one's port, whose place is the source port modulo n.
func shareOut(s *socket, ipv4 bool, n int) error {
	header := uint32(40) // of IPv6
	if ipv4 {
		header = 20 // without options, which nothing here sends
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: skfNetOff + header},
		{Code: unix.BPF_ALU | unix.BPF_MOD | unix.BPF_K, K: uint32(n)},
		{Code: unix.BPF_RET | unix.BPF_A},
	}
	err := unix.SetsockoptSockFprog(int(s.Sock), unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF,
		&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	runtime.KeepAlive(program)
	if err != nil {
		return fmt.Errorf("attach a filter to a %s (SO_ATTACH_REUSEPORT_CBPF): %w", s.what, err)
	}
	return nil
}
