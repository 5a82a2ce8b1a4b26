package knob

import (
	"errors"
	"strings"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// What a device cannot do is told before anything is changed, and says why.
func TestDeviceRefusals(t *testing.T) {
	one, several := newVeth(t, 1), newVeth(t, 4)
	for _, c := range []struct {
		name        string
		ns          *sys.NetNS
		s           spec.Setting
		unavailable bool
		want        []string
	}{
		{"no coalescing", one, of("v0", "coalesce.rx-usecs", "10"), true, []string{"coalesce.rx-usecs of v0", "ethtool -C", "interrupt coalescing"}},
		{"no rings", one, of("v0", "ring.rx", "10"), true, []string{"ring.rx of v0", "ethtool -G"}},
		{"no such channels", one, of("v0", "channels.combined", "1"), true, []string{"channels.combined of v0"}},
		{"too many channels", several, of("v0", "channels.rx", "5"), false, []string{"channels.rx of v0", "0 to 4"}},
		{"one queue", one, of("v0", "xps", "0"), true, []string{"xps of v0", "several transmit queues"}},
		{"no interrupts", one, of("v0", "irq-affinity", "0"), true, []string{"interrupts of v0"}},
		{"fixed", one, of("v0", "lro", "on"), true, []string{"lro of v0", "fixed off"}},
		{"fixed on loopback", one, of("lo", "tx-checksum", "off"), true, []string{"tx-checksum of lo", "fixed on"}},
		{"unknown feature", one, of("v0", "feature.nosuch", "on"), true, []string{"feature.nosuch", "ethtool -k v0"}},
		{"no NAPI", one, of("v0", "threaded", "on"), true, []string{"threaded NAPI of v0", "gro"}},
		{"offline CPU", one, of("v0", "rps", "0,4095"), false, []string{"CPU 4095 is not online"}},
		{"no such interface", one, of("v9", "gro", "on"), false, []string{"v9"}},
		{"MTU out of range", one, of("v0", "mtu", "65536"), false, []string{"mtu of v0", "65536"}},
		{"no IPv6", one, of("v0", "mtu", "1200"), false, []string{"IPv6"}},
		{"unknown qdisc", one, of("v0", "qdisc", "nosuch"), false, []string{"nosuch", "pfifo"}},
		{"option of another qdisc", one, of("v0", "qdisc", "pfifo target 3"), false, []string{"target", "limit"}},
		{"mq of one queue", one, of("v0", "qdisc", "mq"), true, []string{"qdisc mq of v0", "several queues"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newTestHolder(t, c.ns, newJournal(t))
			before := everyFeature(t, onV0(c.ns))
			changes, err := h.Set(t.Context(), local(c.s))
			if err == nil {
				t.Fatalf("%s was set: %+v", c.s, changes)
			}
			if errors.Is(err, feature.ErrUnavailable) != c.unavailable {
				t.Errorf("%v: is feature.ErrUnavailable is not %v", err, c.unavailable)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v: does not say %q", err, part)
				}
			}
			if now := everyFeature(t, onV0(c.ns)); now != before {
				t.Errorf("features were\n%s\nand are\n%s", before, now)
			}
		})
	}
}
