package counters

import (
	"net"
	"strings"
	"testing"

	"netdelta/internal/labtest/veth"
	"netdelta/internal/sys"
)

func setGRO(device string) error { return sys.SetGRO(device, true) }

// A veth tells which interface its other end is.
func TestDriver(t *testing.T) {
	lab, _ := veth.Pair(t)
	s := openAt(t, lab.A, &Options{Device: lab.A.Device}, openDriver)
	peer := 0
	on(t, lab.B, func() error {
		d, err := net.InterfaceByName(lab.B.Device)
		if err == nil {
			peer = d.Index
		}
		return err
	})
	if x := sampleAt(t, lab.A, s); x.counts["peer_ifindex"] != int64(peer) || len(x.counts) < 2 {
		t.Errorf("the other end is %d: %v", peer, x.counts)
	}
	on(t, lab.A, func() error {
		if _, err := openDriver(&Options{Device: "lo"}); err == nil || !strings.Contains(err.Error(), "lo") {
			t.Errorf("a driver without counters: %v", err)
		}
		return nil
	})
}
