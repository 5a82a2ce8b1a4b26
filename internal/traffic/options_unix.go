//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// WarnOption: the kernel made something else of a socket option than was
// asked for.
const WarnOption = "socket-option"

// maxTCPOptions is the most bytes of options in a TCP header (RFC 9293, 3.1).
const maxTCPOptions = 40

// setConnOptions sets what a TCP connection does not take over from its
// listener, and reads back what the two ends agree on.
func (s *socket) setConnOptions(cfg Config, noDelay bool) error {
	if err := s.setInherited(cfg); err != nil {
		return err
	}
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
	if need != "" {
		return refused(fmt.Errorf("%s: %w (it needs %s)", text, err, need))
	}
	return refused(fmt.Errorf("%s: %w", text, err))
}
