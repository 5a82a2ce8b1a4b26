//go:build darwin || freebsd

package traffic

import (
	"errors"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// connOptions set what a test asks of each connection that a loop makes.
type connOptions struct{ cfg Config }

// socketOption is a stand-in for an option that was refused.
type socketOption struct{ name, shown, need string }

func newConnOptions(cfg Config, _ bool) connOptions { return connOptions{cfg} }

// apply sets them, and returns the first that was refused.
func (o *connOptions) apply(s sys.Sock) (unix.Errno, *socketOption) {
	c := socket{Sock: s, what: "TCP socket"}
	p := o.cfg.Test.Params
	err := errors.Join(
		c.setBuffer(unix.SO_SNDBUF, WarnSndBuf, p.SndBuf, sndBufLimit),
		c.setBuffer(unix.SO_RCVBUF, WarnRcvBuf, p.RcvBuf, rcvBufLimit),
		c.setOptions(o.cfg),
	)
	if err == nil && p.NoDelay != spec.Off {
		err = c.noDelay()
	}
	if err == nil && o.cfg.Port != 0 {
		err = c.reuse()
	}
	if err == nil {
		return 0, nil
	}
	errno := unix.EINVAL
	errors.As(err, &errno)
	return errno, &socketOption{name: "options", shown: err.Error()}
}

// accepted sets what a connection may not take over from its listener. A
// refusal is that the connection has gone again, which the next call tells.
func (o *connOptions) accepted(s sys.Sock) {
	c := socket{Sock: s, what: "TCP connection"}
	_ = c.setInherited(o.cfg)
}
