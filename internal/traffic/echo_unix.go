//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
)

// echo is icmp_echo: requests that the peer's kernel answers. It has only a
// local end.
type echo struct {
	cfg      Config
	exchange exchange
}

func newEcho(cfg Config) Engine { return &echo{cfg: cfg} }

// ipHeader is the length of the IPv4 header that a raw socket delivers with a
// reply; the filter lets none with options pass.
const ipHeader = 20

// echoFamily is what differs between the two versions of the protocol.
type echoFamily struct {
	protocol       int
	request, reply byte
	rawHeader      int // bytes that a raw socket delivers before the message
}

var echoFamilies = map[int]echoFamily{
	unix.AF_INET:  {unix.IPPROTO_ICMP, echoRequest4, echoReply4, ipHeader},
	unix.AF_INET6: {unix.IPPROTO_ICMPV6, echoRequest6, echoReply6, 0},
}

func (e *echo) Prepare() (uint16, error) {
	f := echoFamilies[family(e.cfg.Addr)]
	p := e.cfg.Test.Params
	sock, err := openSocket(e.cfg, unix.SOCK_DGRAM, f.protocol, "ICMP datagram socket")
	raw := err != nil
	if raw {
		var rawErr error
		if sock, rawErr = openSocket(e.cfg, unix.SOCK_RAW, f.protocol, "raw ICMP socket"); rawErr != nil {
			return 0, fmt.Errorf("send ICMP echo requests: %w (it takes CAP_NET_RAW, or a group of this user within the sysctl net.ipv4.ping_group_range of this network namespace)",
				errors.Join(err, rawErr))
		}
	}
	x := &e.exchange
	x.sock = sock
	// The identifier is the port of a datagram socket, and the kernel delivers
	// by it.
	id, err := sock.bind(e.cfg.Addr, e.cfg.Port)
	if err != nil {
		return 0, err
	}
	before := 0
	x.checksumAt = -1
	if raw {
		before = f.rawHeader
		id = uint16(rand.Uint32())
		if err := filterReplies(sock, before, f.reply, id); err != nil {
			return 0, err
		}
		if family(e.cfg.Addr) == unix.AF_INET {
			x.checksumAt = echoChecksumAt
		}
	}
	x.request = echoRequest(f.request, id, p.Size)
	x.requestAt, x.answerAt, x.width = echoSequenceAt, before+echoSequenceAt, 2
	x.answerSize = before + len(x.request)
	x.answer = make([]byte, x.answerSize+1)
	x.payload = 2 * p.Size
	x.meter = meterOf(e.cfg)
	return 0, nil
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

func (e *echo) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	return e.exchange.sock.connect(netip.AddrPortFrom(peer.Addr(), 0))
}

func (e *echo) Run() (result.End, error) { return e.exchange.run() }

func (e *echo) Stop() {}

func (e *echo) Intervals() *Intervals { return e.exchange.meter.parts }

func (e *echo) Close() error { return e.exchange.sock.close() }
