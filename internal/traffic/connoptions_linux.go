package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// connOptions set what a test asks of each connection that a loop makes. They
// are made once, and then allocate nothing.
type connOptions struct{ all []socketOption }

// newConnOptions are those of a connection that has TCP_NODELAY unless the test
// says otherwise, and that is bound to an address without a port if bound says
// so.
func newConnOptions(cfg Config, bound bool) connOptions {
	p := cfg.Test.Params
	var all []socketOption
	number := func(name string, set bool, level, which, value int) {
		if set {
			all = append(all, socketOption{name: name, level: level, which: which, value: intOption(value), shown: fmt.Sprint(value)})
		}
	}
	number("SO_SNDBUF", p.SndBuf != 0, unix.SOL_SOCKET, unix.SO_SNDBUF, p.SndBuf)
	number("SO_RCVBUF", p.RcvBuf != 0, unix.SOL_SOCKET, unix.SO_RCVBUF, p.RcvBuf)
	number("TCP_NODELAY", p.NoDelay != spec.Off, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	number("SO_REUSEADDR", bound && cfg.Port != 0, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	// The port is then chosen when the peer is known: one that is in use towards
	// other peers is free towards this one (ip(7)). IPv6 sockets have it too.
	number("IP_BIND_ADDRESS_NO_PORT", bound && cfg.Port == 0, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	return connOptions{append(all, socketOptions(cfg)...)}
}

// apply sets them, and returns the first that was refused.
//
//go:nosplit
func (o *connOptions) apply(s sys.Sock) (unix.Errno, *socketOption) {
	for i := range o.all {
		row := &o.all[i]
		if errno := s.SetOption(row.level, row.which, row.value); errno != 0 {
			return errno, row
		}
	}
	return 0, nil
}

// accepted has nothing to set of a connection that was accepted: it takes all
// over from its listener.
func (o *connOptions) accepted(sys.Sock) {}
