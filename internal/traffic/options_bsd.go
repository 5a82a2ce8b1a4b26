//go:build darwin || freebsd

package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/spec"
)

// bufferFactor is how many times the size that was asked for the kernel says a
// socket's buffer has.
const bufferFactor = 1

// sndBufLimit and rcvBufLimit name the setting that limits such a size.
const (
	sndBufLimit = "kern.ipc.maxsockbuf"
	rcvBufLimit = "kern.ipc.maxsockbuf"
)

// setOptions sets what the test asks of a socket beside its buffers.
func (s *socket) setOptions(cfg Config) error {
	p := cfg.Test.Params
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"SO_MARK", p.Mark != 0},
		{"SO_BUSY_POLL", p.BusyPoll != 0},
		{"SO_MAX_PACING_RATE", p.Pacing != 0},
		// Before there is a connection, these systems only take what is below
		// the size for a path of which nothing is known, and after that the
		// other end has been told another.
		{"TCP_MAXSEG", p.MSS != 0},
	} {
		if o.set {
			return s.noOption(o.name, "Linux")
		}
	}
	if err := s.setInherited(cfg); err != nil {
		return err
	}
	if p.Congestion != "" {
		if err := s.setCongestion(p.Congestion); err != nil {
			return err
		}
	}
	if cfg.Device != "" {
		if err := s.bindToDevice(cfg.Device, cfg.Addr.Is4()); err != nil {
			return err
		}
	}
	return s.fitDatagrams(cfg.Test)
}

// setInherited sets what Linux has a connection take over from its listener,
// and these systems may not.
func (s *socket) setInherited(cfg Config) error {
	dscp := cfg.Test.Params.DSCP
	for _, o := range []struct {
		name         string
		set          bool
		level, which int
		value        int
	}{
		// Go's runtime takes the signal and ignores it, but that costs time.
		{"SO_NOSIGPIPE", true, unix.SOL_SOCKET, unix.SO_NOSIGPIPE, 1},
		{"IP_TOS", dscp != 0 && cfg.Addr.Is4(), unix.IPPROTO_IP, unix.IP_TOS, dscp << 2},
		{"IPV6_TCLASS", dscp != 0 && !cfg.Addr.Is4(), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, dscp << 2},
	} {
		if !o.set {
			continue
		}
		if err := unix.SetsockoptInt(int(s.Sock), o.level, o.which, o.value); err != nil {
			return s.refusedOption(o.name, fmt.Sprint(o.value), "", err)
		}
	}
	return nil
}

// fitDatagrams makes room for the test's datagrams: one that is larger than the
// send buffer is refused (EMSGSIZE), and the buffer is small unless a size was
// asked for (net.inet.udp.maxdgram, net.inet.raw.maxdgram).
func (s *socket) fitDatagrams(test spec.Test) error {
	if test.Kind().Protocol == spec.TCP || test.Params.SndBuf != 0 {
		return nil
	}
	need := max(test.Params.Size, test.RequestSize(), test.ResponseSize()) + ipHeader + echoHeader
	have, err := unix.GetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil {
		return fmt.Errorf("read SO_SNDBUF of a %s: %w", s.what, err)
	}
	if have >= need {
		return nil
	}
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_SNDBUF, need); err != nil {
		return s.refusedOption("SO_SNDBUF", fmt.Sprintf("%d bytes, to hold a datagram", need), "a larger "+sndBufLimit, err)
	}
	return nil
}

// noOption is an option that this system has not.
func (s *socket) noOption(option, need string) error {
	return &feature.Error{Feature: option, Tried: "set it of a " + s.what, Need: need,
		Kernel: feature.Kernel().String(), Err: errors.ErrUnsupported}
}
