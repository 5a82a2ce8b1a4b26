package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// openEcho makes a datagram socket (icmp(7)), or a raw one where this user may
// not have that.
func openEcho(cfg Config, f echoFamily) (echoSocket, error) {
	s, err := openSocket(cfg, unix.SOCK_DGRAM, f.protocol, "ICMP datagram socket")
	if err == nil {
		return echoSocket{socket: s, byPort: true}, nil
	}
	s, rawErr := openSocket(cfg, unix.SOCK_RAW, f.protocol, "raw ICMP socket")
	if rawErr == nil {
		return echoSocket{socket: s, before: f.rawHeader, filter: filterReplies}, nil
	}
	return echoSocket{}, fmt.Errorf("send ICMP echo requests: %w (it takes CAP_NET_RAW, or a group of this user within the sysctl net.ipv4.ping_group_range of this network namespace)",
		errors.Join(err, rawErr))
}

// filterReplies has the kernel deliver only the replies to requests with this
// identifier (a classic BPF program, socket(7) SO_ATTACH_FILTER): a raw socket
// gets every ICMP message of the network namespace otherwise. before is the
// length of the IPv4 header before the message; 0 for IPv6, where there is
// none.
func filterReplies(s *socket, before int, kind byte, id uint16) error {
	const (
		loadByte = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS
		loadHalf = unix.BPF_LD | unix.BPF_H | unix.BPF_ABS
		skipNot  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer   = unix.BPF_RET | unix.BPF_K
	)
	program := []unix.SockFilter{
		{Code: loadByte, K: uint32(before)},
		{Code: skipNot, Jf: 3, K: uint32(kind)},
		{Code: loadHalf, K: uint32(before) + echoIDAt},
		{Code: skipNot, Jf: 1, K: uint32(id)},
		{Code: answer, K: 1 << 18}, // as many bytes as there are
		{Code: answer, K: 0},
	}
	if before > 0 {
		const version4NoOptions = 0x45
		program = append([]unix.SockFilter{
			{Code: loadByte, K: 0},
			{Code: skipNot, Jf: uint8(len(program)) - 1, K: version4NoOptions},
		}, program...)
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.SetsockoptSockFprog(int(s.Sock), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &prog); err != nil {
		return fmt.Errorf("filter what a %s receives (setsockopt SO_ATTACH_FILTER): %w", s.what, err)
	}
	return nil
}
