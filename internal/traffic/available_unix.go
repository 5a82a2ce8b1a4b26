//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Refused is why this system does not have a test's send or receive method,
// nil if it does: the method is made for a socket that is not connected, and
// given up again. What a path or a device does not carry shows only there.
func Refused(t spec.Test, role string) error {
	cfg := Config{Role: role, Test: t, Window: time.Second, CPU: -1, Addr: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	if err := cfg.check(); err != nil {
		return err
	}
	kind, protocol, what := unix.SOCK_STREAM, unix.IPPROTO_TCP, "TCP socket"
	if cfg.Test.Kind().Protocol == spec.UDP {
		kind, protocol, what = unix.SOCK_DGRAM, unix.IPPROTO_UDP, "UDP socket"
	}
	s, err := openSocket(cfg, kind, protocol, what)
	if err != nil {
		return err
	}
	m, err := makeMethod(s, cfg, role == result.Local, kind == unix.SOCK_STREAM)
	if err == nil {
		err = m.close()
	}
	return errors.Join(err, s.close())
}

// makeMethod makes the method of one end of a test that sends from local.
func makeMethod(s *socket, cfg Config, sends, stream bool) (method, error) {
	if sends {
		row, err := sendMethodOf(cfg)
		switch {
		case err != nil:
			return nil, err
		case stream:
			return row.stream(s, cfg)
		}
		return row.datagram(s, cfg)
	}
	row, err := recvMethodOf(cfg)
	switch {
	case err != nil:
		return nil, err
	case stream:
		return row.stream(s, cfg)
	}
	return row.datagram(s, cfg)
}
