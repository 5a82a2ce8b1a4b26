package traffic

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// A receiver that sleeps until much has come is told of less when its timeout
// is over, with every receive method; one that blocks is told at once.
func TestGather(t *testing.T) {
	eachFamily(t, func(t *testing.T, addr netip.Addr) {
		for _, wait := range []string{"", spec.Nap} {
			for _, method := range []string{"recv", "trunc", "splice"} {
				cfg, a, b := streamPair(t, addr, spec.Params{Recv: method, Wait: wait})
				if err := b.setTimeout(unix.SO_RCVTIMEO, pollTime); err != nil {
					t.Fatal(err)
				}
				row, err := recvMethodOf(cfg)
				if err != nil {
					t.Fatal(err)
				}
				m, err := row.stream(b, cfg)
				if err != nil {
					t.Fatal(err)
				}
				low, err := unix.GetsockoptInt(int(b.Sock), unix.SOL_SOCKET, unix.SO_RCVLOWAT)
				if want := map[string]int{spec.Nap: min(gatherBytes, 32*cfg.Test.Params.Size), "": 1}[wait]; err != nil || low != want {
					t.Errorf("%s, wait %q: SO_RCVLOWAT is %d, %v, want %d", method, wait, low, err, want)
				}
				if _, errno := a.Send(make([]byte, 1000), unix.MSG_NOSIGNAL); errno != 0 {
					t.Fatal(errno)
				}
				got := 0
				for tries := 0; got < 1000 && tries < 200; tries++ {
					n, errno := m.receive()
					if errno != 0 && errno != unix.EAGAIN && errno != unix.EINTR {
						t.Fatal(errno)
					}
					got += max(n, 0)
				}
				if got != 1000 {
					t.Errorf("%s, wait %q: %d of 1000 bytes came", method, wait, got)
				}
				if err := m.close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
