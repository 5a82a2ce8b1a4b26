package traffic

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// WarnOption: the kernel made something else of a socket option than was
// asked for.
const WarnOption = "socket-option"

// maxTCPOptions is the most bytes of options in a TCP header (RFC 9293, 3.1).
const maxTCPOptions = 40

// setOptions sets what the test asks of a socket beside its buffers. A TCP
// connection inherits all of it from the listener that it comes from but for
// those that setConnOptions sets.
func (s *socket) setOptions(cfg Config) error {
	p := cfg.Test.Params
	for _, o := range []struct {
		name         string
		set          bool
		level, which int
		value        int
		need         string // what a refusal may be for want of
	}{
		{"SO_MARK", p.Mark != 0, unix.SOL_SOCKET, unix.SO_MARK, p.Mark, "CAP_NET_ADMIN or, since Linux 5.17, CAP_NET_RAW"},
		{"SO_BUSY_POLL", p.BusyPoll != 0, unix.SOL_SOCKET, unix.SO_BUSY_POLL, p.BusyPoll, "CAP_NET_ADMIN to go over net.core.busy_read"},
		{"IP_TOS", p.DSCP != 0 && cfg.Addr.Is4(), unix.IPPROTO_IP, unix.IP_TOS, p.DSCP << 2, ""},
		{"IPV6_TCLASS", p.DSCP != 0 && !cfg.Addr.Is4(), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, p.DSCP << 2, ""},
		{"TCP_MAXSEG", p.MSS != 0, unix.IPPROTO_TCP, unix.TCP_MAXSEG, p.MSS, ""},
	} {
		if !o.set {
			continue
		}
		if err := unix.SetsockoptInt(int(s.Sock), o.level, o.which, o.value); err != nil {
			return s.refusedOption(o.name, fmt.Sprint(o.value), o.need, err)
		}
	}
	if p.Pacing != 0 {
		if err := s.setPacing(p.Pacing); err != nil {
			return err
		}
	}
	if p.Congestion != "" {
		if err := unix.SetsockoptString(int(s.Sock), unix.IPPROTO_TCP, unix.TCP_CONGESTION, p.Congestion); err != nil {
			need := "one of net.ipv4.tcp_available_congestion_control"
			if errors.Is(err, unix.EPERM) {
				need = "one of net.ipv4.tcp_allowed_congestion_control, or CAP_NET_ADMIN"
			}
			return s.refusedOption("TCP_CONGESTION", p.Congestion, need, err)
		}
	}
	if cfg.Device != "" {
		if err := unix.SetsockoptString(int(s.Sock), unix.SOL_SOCKET, unix.SO_BINDTODEVICE, cfg.Device); err != nil {
			return s.refusedOption("SO_BINDTODEVICE", cfg.Device, "an interface of that name on this host; CAP_NET_RAW before Linux 5.7", err)
		}
	}
	return nil
}

// setPacing limits what a socket sends to so many bits per second
// (SO_MAX_PACING_RATE of socket(7), in bytes). TCP paces by itself; a datagram
// socket is only paced where the interface's queue is fq.
func (s *socket) setPacing(bits int) error {
	if err := unix.SetsockoptUint64(int(s.Sock), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(bits)/8); err != nil {
		return s.refusedOption("SO_MAX_PACING_RATE", fmt.Sprintf("%d bit/s", bits), "Linux 4.20 for rates above 34 Gbit/s", err)
	}
	return nil
}

// setConnOptions sets what a TCP connection does not take over from its
// listener, and reads back what the two ends agree on.
func (s *socket) setConnOptions(cfg Config, noDelay bool) error {
	if v := cfg.Test.Params.NoDelay; v != "" {
		noDelay = v == spec.On
	}
	if noDelay {
		if err := s.noDelay(); err != nil {
			return err
		}
	}
	if want := cfg.Test.Params.MSS; want != 0 {
		got, err := unix.GetsockoptInt(int(s.Sock), unix.IPPROTO_TCP, unix.TCP_MAXSEG)
		if err != nil {
			return fmt.Errorf("read back TCP_MAXSEG of a %s: %w", s.what, err)
		}
		// Options of the header, such as timestamps, come off the payload.
		if got > want || got < want-maxTCPOptions {
			s.warnings = append(s.warnings, result.Warning{Code: WarnOption,
				Text:   fmt.Sprintf("TCP_MAXSEG %d was asked for, the connection has segments of up to %d bytes", want, got),
				Advice: "the MTU of the path or the other end's maximum is smaller"})
		}
	}
	return nil
}

// refusedOption is an option that the kernel did not take, in a line.
func (s *socket) refusedOption(option, value, need string, err error) error {
	text := fmt.Sprintf("set %s of a %s to %s", option, s.what, value)
	if need = strings.TrimSpace(need); need != "" {
		return fmt.Errorf("%s: %w (it needs %s)", text, err, need)
	}
	return fmt.Errorf("%s: %w", text, err)
}
