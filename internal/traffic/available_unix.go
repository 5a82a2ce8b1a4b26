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
	return tryMethod(cfg, role == result.Local)
}

// tryMethods makes what an end of a TCP stream sends and receives with, and
// gives it up again.
func tryMethods(cfg Config) error {
	if cfg.Test.Flows() > cfg.Test.Threads() && cfg.Test.Kind().Pattern != spec.Duplex {
		return nil // these have no method that could be refused
	}
	if sends(&cfg) {
		if err := tryMethod(cfg, true); err != nil {
			return err
		}
	}
	if receives(&cfg) {
		return tryMethod(cfg, false)
	}
	return nil
}

// tryMethod makes what one end of a test sends or receives with.
func tryMethod(cfg Config, sends bool) error {
	kind, protocol, what := unix.SOCK_STREAM, unix.IPPROTO_TCP, "TCP socket"
	if cfg.Test.Kind().Protocol == spec.UDP {
		kind, protocol, what = unix.SOCK_DGRAM, unix.IPPROTO_UDP, "UDP socket"
	}
	s, err := openSocket(cfg, kind, protocol, what)
	if err != nil {
		return err
	}
	m, err := makeMethod(s, cfg, sends, kind == unix.SOCK_STREAM)
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
