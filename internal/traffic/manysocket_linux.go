package traffic

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
)

// openManyFlows makes the local sockets of a test's flows, bound by open. Flows
// with a given port have that and the ones that follow; those with a range of
// ports have free ones of it.
func openManyFlows(cfg Config, open func(Config) (*socket, uint16, error)) (socks []*socket, err error) {
	flows := cfg.Test.Flows()
	if err := filesForFlows(cfg); err != nil {
		return nil, err
	}
	ports, err := flowPorts(cfg)
	if err != nil {
		return nil, err
	}
	socks = make([]*socket, 0, flows)
	for len(socks) < flows {
		port, ok := ports()
		if !ok {
			return socks, fmt.Errorf("ports %d to %d have %d free ones for %d flows: %w (wait for other trials to end, or give the agent more, --data-ports)",
				cfg.PortMin, cfg.PortMax, len(socks), flows, unix.EADDRINUSE)
		}
		cfg.Port = port
		s, _, err := open(cfg)
		switch {
		case err == nil:
			socks = append(socks, s)
		case cfg.PortMax != 0 && errors.Is(err, unix.EADDRINUSE):
			// The next one.
		default:
			return socks, fewPorts(err, len(socks), flows)
		}
	}
	return socks, nil
}

// flowPorts yields the ports to try one after the other: zeros if the kernel
// is to choose.
func flowPorts(cfg Config) (next func() (port uint16, ok bool), err error) {
	flows, from, count := cfg.Test.Flows(), int(cfg.Port), 0
	switch {
	case cfg.Port != 0:
		if from+flows-1 > math.MaxUint16 {
			return nil, fmt.Errorf("%d flows need the ports from %d to %d, and %d is the last one", flows, from, from+flows-1, math.MaxUint16)
		}
		return func() (uint16, bool) { count++; return uint16(from + count - 1), true }, nil
	case cfg.PortMax != 0:
		if cfg.PortMin == 0 || cfg.PortMin > cfg.PortMax {
			return nil, fmt.Errorf("ports %d to %d are no range", cfg.PortMin, cfg.PortMax)
		}
		n := int(cfg.PortMax-cfg.PortMin) + 1
		if n < flows {
			return nil, fmt.Errorf("%d flows need as many ports, and from %d to %d there are %d: give the agent more, --data-ports", flows, cfg.PortMin, cfg.PortMax, n)
		}
		start := rand.IntN(n)
		return func() (uint16, bool) {
			count++
			return cfg.PortMin + uint16((start+count-1)%n), count <= n
		}, nil
	}
	return func() (uint16, bool) { return 0, true }, nil
}

// fewPorts says what to do where the kernel has no port left to choose:
// bind(2) says EADDRINUSE then, and connect(2) EADDRNOTAVAIL.
func fewPorts(err error, made, flows int) error {
	if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EADDRINUSE) {
		return fmt.Errorf("%d of %d flows have a port of their own: %w (net.ipv4.ip_local_port_range has too few, or connections of earlier trials still have them for a minute)", made, flows, err)
	}
	return err
}

// openFlowTCP makes a bound TCP socket. One without a given port gets it when it
// is connected: then it can be one that a connection to another port has, as
// those of an earlier trial in TIME_WAIT (IP_BIND_ADDRESS_NO_PORT of ip(7)).
func openFlowTCP(cfg Config) (*socket, uint16, error) {
	if cfg.Port != 0 {
		return openTCP(cfg)
	}
	s, err := openSocket(cfg, unix.SOCK_STREAM, unix.IPPROTO_TCP, "TCP socket")
	if err != nil {
		return nil, 0, err
	}
	if err := unix.SetsockoptInt(int(s.Sock), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
		s.close()
		return nil, 0, s.refusedOption("IP_BIND_ADDRESS_NO_PORT", "1", "Linux 4.2", err)
	}
	if _, err := s.bind(cfg.Addr, 0); err != nil {
		s.close()
		return nil, 0, err
	}
	return s, 0, nil
}

// skbBytes is about what a datagram takes of a receive buffer beside its
// payload; both count twice there (socket(7)).
const skbBytes = 512

// makeRoom makes a receive buffer large enough for so many datagrams, unless
// the test says how large it is to be: outstanding requests must find room, or
// what is measured is their loss.
func (s *socket) makeRoom(cfg Config, datagrams, size int) error {
	if cfg.Test.Params.RcvBuf != 0 {
		return nil
	}
	want := min(datagrams*(size+skbBytes), math.MaxInt32/2)
	have := func() (int, error) {
		n, err := unix.GetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVBUF)
		if err != nil {
			return 0, fmt.Errorf("read %s of a %s: %w", WarnRcvBuf, s.what, err)
		}
		return n / 2, nil
	}
	got, err := have()
	if err != nil || got >= want {
		return err
	}
	if unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, want) != nil {
		// It needs CAP_NET_ADMIN; the other one gives what net.core.rmem_max allows.
		if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_RCVBUF, want); err != nil {
			return fmt.Errorf("set %s of a %s to %d bytes: %w", WarnRcvBuf, s.what, want, err)
		}
	}
	if got, err = have(); err == nil && got < want {
		s.warnings = append(s.warnings, result.Warning{
			Code:   WarnRcvBuf,
			Text:   fmt.Sprintf("%d outstanding datagrams need a receive buffer of some %d bytes, the kernel gave %d: some may be lost there", datagrams, want, got),
			Advice: "raise net.core.rmem_max, or take fewer flows or a smaller burst",
		})
	}
	return err
}
