package traffic

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// TestDialLooksOnceMore: a connection that came about while nobody looked is
// good after its time, and one that did not come about says how long it had.
func TestDialLooksOnceMore(t *testing.T) {
	cfg := Config{Role: result.Local, Test: spec.Test{Name: "tcp_stream"}, Window: testWindow, CPU: -1, Addr: loopbacks["ipv4"]}
	listener, port, err := openTCP(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.close()
	if err := unix.Listen(int(listener.Sock), 0); err != nil { // has room for one
		t.Fatal(err)
	}
	peer := netip.AddrPortFrom(cfg.Addr, port)
	for _, connects := range []bool{true, false} {
		s, _, err := openTCP(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if err := s.beginDial(peer); err != nil {
			t.Fatal(err)
		}
		err = s.endDial(peer, time.Now().Add(-time.Second), connectTime)
		switch {
		case connects && err != nil:
			t.Errorf("a connection that is there: %v", err)
		case !connects && (!errors.Is(err, unix.ETIMEDOUT) || !strings.Contains(err.Error(), "within "+connectTime.String())):
			t.Errorf("one that is not: %v", err)
		}
	}
}
