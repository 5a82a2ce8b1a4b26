//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
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
// reply; with options it would be longer, and such replies are not taken.
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

// echoSocket is a socket for echo requests, and what kind it is.
type echoSocket struct {
	*socket
	// byPort says that the socket's port is the identifier of its requests, by
	// which the kernel delivers their replies, and that the kernel computes
	// checksums. Else the identifier is any.
	byPort bool
	// before is the bytes of IP header that come before a reply.
	before int
	// filter, if there is one, has the kernel deliver only replies of a kind
	// with an identifier.
	filter func(s *socket, before int, kind byte, id uint16) error
}

func (e *echo) Prepare() (uint16, error) {
	f := echoFamilies[family(e.cfg.Addr)]
	size := e.cfg.Test.Params.Size
	x := &e.exchange
	if err := x.watch.prepare(&e.cfg); err != nil {
		return 0, err
	}
	sock, err := openEcho(e.cfg, f)
	if err != nil {
		return 0, err
	}
	x.sock = sock.socket
	id, err := sock.bind(e.cfg.Addr, e.cfg.Port)
	if err != nil {
		return 0, err
	}
	x.checksumAt = -1
	if !sock.byPort {
		id = uint16(rand.Uint32())
		if sock.filter == nil {
			x.idWidth = echoSequenceAt - echoIDAt
		} else if err := sock.filter(sock.socket, sock.before, f.reply, id); err != nil {
			return 0, err
		}
		if family(e.cfg.Addr) == unix.AF_INET {
			x.checksumAt = echoChecksumAt
		}
	}
	x.request = echoRequest(f.request, id, size)
	x.requestAt, x.answerAt, x.width = echoSequenceAt, sock.before+echoSequenceAt, 2
	x.answerSize = sock.before + len(x.request)
	x.answer = make([]byte, x.answerSize+1)
	x.payload = 2 * size
	x.meter = meterOf(e.cfg)
	return 0, nil
}

func (e *echo) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := e.exchange.sock.join(&e.cfg, netip.AddrPortFrom(peer.Addr(), 0)); err != nil {
		return err
	}
	return e.exchange.watch.arm(e.exchange.sock, peer)
}

func (e *echo) Run() (result.End, error) { return e.exchange.run() }

func (e *echo) Stop() {}

func (e *echo) Intervals() *Intervals { return e.exchange.meter.parts }

func (e *echo) Close() error {
	return errors.Join(e.exchange.watch.close(), e.exchange.sock.close())
}
