package traffic

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// TestRefusalsSayWhatIsMissing: what this host does not give is
// feature.ErrUnavailable, so that other tests go on, and says what to do.
func TestRefusalsSayWhatIsMissing(t *testing.T) {
	udp := func(t *testing.T) *socket {
		s, _, err := openUDP(Config{Test: spec.Test{Name: "udp_stream"}, Addr: loopbacks["ipv4"], CPU: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.close() })
		return s
	}
	for name, c := range map[string]struct {
		err  func(t *testing.T) error
		says []string
	}{
		"zerocopy without memory": {func(*testing.T) error {
			z := &zeroCopy{starved: true}
			return z.explain(errExplained)
		}, []string{"optmem_max", "ulimit -l"}},
		"gso without checksums": {func(t *testing.T) error {
			s := udp(t)
			cfg := Config{Role: result.Local, Test: spec.Test{Name: "udp_stream", Params: spec.Params{Size: 100, Send: "gso"}}, Window: time.Second, CPU: -1, Addr: loopbacks["ipv4"]}
			if err := cfg.check(); err != nil {
				t.Fatal(err)
			}
			if _, err := newGSODatagram(s, cfg); err != nil {
				return err
			}
			return s.failed("send on", unix.EIO)
		}, []string{"checksum offload", "ethtool"}},
		"a buffer": {func(*testing.T) error {
			s := &socket{Sock: -1, what: "UDP socket"}
			return s.setBuffer(unix.SO_SNDBUF, WarnSndBuf, 1000, sndBufLimit)
		}, []string{sndBufLimit}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.err(t)
			if !errors.Is(err, feature.ErrUnavailable) {
				t.Fatalf("error %v", err)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

// TestBusyPollNeeds tells a kernel that has no such option from a user who may
// not.
func TestBusyPollNeeds(t *testing.T) {
	all := socketOptions(Config{Test: spec.Test{Name: "udp_rr", Params: spec.Params{BusyPoll: 50}}})
	if len(all) != 1 {
		t.Fatalf("%d options", len(all))
	}
	for errno, want := range map[unix.Errno]string{unix.ENOPROTOOPT: "CONFIG_NET_RX_BUSY_POLL", unix.EPERM: "CAP_NET_ADMIN"} {
		if got := all[0].needs(errno); !strings.Contains(got, want) {
			t.Errorf("%v needs %q", errno, got)
		}
	}
}
