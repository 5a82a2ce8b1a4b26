package netlab

import (
	"context"
	"fmt"
	"strings"

	"github.com/vishvananda/netlink"
)

// Counts reads the link's counters, all of them since Connect began. Names
// begin with "wire." for the wire's own, by direction
// ("wire.a_to_b.frames_in"), and with the host's letter for those of its
// interface ("a.rx_dropped"). "a.napi_packets" is what host a's veth received
// by NAPI. "a.classified_all" and "a.classified_cgroup" are there after
// Lab.Classify, and are since then. A counter that is not there is 0, or unknown to the kernel.
func (k *Link) Counts() (map[string]int64, error) {
	counts := map[string]int64{}
	if k.wire != nil {
		stats, err := k.wire.Stats()
		if err != nil {
			return nil, err
		}
		for name, n := range stats.Counts() {
			counts["wire."+name] = n
		}
	}
	for _, h := range k.hosts() {
		dev, err := h.device()
		if err != nil {
			return nil, err
		}
		addDeviceCounts(counts, h.Name, dev.Attrs().Statistics)
		if err := h.addClasses(counts); err != nil {
			return nil, err
		}
		if k.cfg.Kind != Veth {
			continue
		}
		polled, known, err := h.polledPackets()
		if err != nil {
			return nil, err
		}
		if known {
			counts[h.Name+".napi_packets"] = polled
		}
	}
	return counts, nil
}

// addDeviceCounts adds an interface's counters. An interface counts what it
// hands to its host as received.
func addDeviceCounts(counts map[string]int64, host string, s *netlink.LinkStatistics) {
	if s == nil {
		return
	}
	for _, c := range []struct {
		name  string
		value uint64
	}{
		{"rx_packets", s.RxPackets}, {"tx_packets", s.TxPackets},
		{"rx_bytes", s.RxBytes}, {"tx_bytes", s.TxBytes},
		{"rx_dropped", s.RxDropped}, {"tx_dropped", s.TxDropped},
		{"rx_errors", s.RxErrors}, {"tx_errors", s.TxErrors},
	} {
		counts[host+"."+c.name] = int64(c.value)
	}
}

// polledPackets is what the NAPI polls of the host's veth have received: the
// driver counts that as XDP's, with or without a program (veth_xdp_rcv in
// drivers/net/veth.c).
func (h *Host) polledPackets() (n int64, known bool, err error) {
	stats, err := h.eth.Stats(h.Device)
	if err != nil {
		return 0, false, fmt.Errorf("host %s: read driver counters of %s: %w", h.Name, h.Device, err)
	}
	for name, value := range stats {
		if strings.HasPrefix(name, "rx_queue_") && strings.HasSuffix(name, "_xdp_packets") {
			n += int64(value)
			known = true
		}
	}
	return n, known, nil
}

// handled checks that frames went through NAPI exactly if the context says
// so. A veth has to be looked at while frames pass: it has NAPI instances and
// yet passes them by for frames that could not be merged.
func (k *Link) handled(context.Context) error {
	if k.cfg.Kind != Veth {
		return k.steered()
	}
	want := vethContextOf(k.cfg.Context).gro
	return k.onBoth(func(h, _ *Host) error {
		n, known, err := h.polledPackets()
		if err != nil || !known {
			return err
		}
		if got := n > 0; got != want {
			return fmt.Errorf("%s received %d packets by NAPI; context %s wants %s", h.Device, n, k.cfg.Context, map[bool]string{true: "all", false: "none"}[want])
		}
		return nil
	})
}
