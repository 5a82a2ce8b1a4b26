//go:build darwin || freebsd

package traffic

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/spec"
)

// TestOptionsThatAreLinuxs are refused, so that other tests go on.
func TestOptionsThatAreLinuxs(t *testing.T) {
	s := &socket{Sock: -1, what: "TCP socket"}
	for _, p := range []spec.Params{{Mark: 1}, {BusyPoll: 1}, {Pacing: 1}, {MSS: 1000}} {
		err := s.setOptions(Config{Test: spec.Test{Name: "tcp_stream", Params: p}})
		if !errors.Is(err, feature.ErrUnavailable) || errors.Is(err, unix.EBADF) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
