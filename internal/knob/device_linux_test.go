package knob

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// newVeth makes a pair, v0 and v1, that is up and has that many queues each, in a
// namespace that vanishes with the test.
func newVeth(t testing.TB, queues int) *sys.NetNS {
	t.Helper()
	labtest.Need(t, feature.Veth)
	ns := newNS(t)
	if err := (Place{NS: ns}).netlink(func(nl *netlink.Handle) error { return addVeth(nl, queues) }); err != nil {
		t.Fatal(err)
	}
	return ns
}

func addVeth(nl *netlink.Handle, queues int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.NumTxQueues, attrs.NumRxQueues = "v0", queues, queues
	pair := netlink.NewVeth(attrs)
	pair.PeerName, pair.PeerNumTxQueues, pair.PeerNumRxQueues = "v1", uint32(queues), uint32(queues)
	if err := nl.LinkAdd(pair); err != nil {
		return err
	}
	for _, name := range []string{"v0", "v1"} {
		l, err := nl.LinkByName(name)
		if err == nil {
			err = nl.LinkSetUp(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func onV0(ns *sys.NetNS) Place { return Place{NS: ns, Device: "v0"} }

func of(device, knob, value string) spec.Setting {
	s := setting(knob, value)
	s.Device = device
	return s
}

func readAt(t testing.TB, p Place, knob string) string {
	t.Helper()
	c, err := open(p, of(p.Device, knob, ""))
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Every setting of a veth changes to each value, reads back so, and is what it was
// afterwards, with what it changed besides.
func TestDeviceRoundTrips(t *testing.T) {
	ns := newVeth(t, 4)
	cpus := "0-1"
	if n, err := sys.OnlineCPUs(); err != nil || len(n) < 2 {
		cpus = "0"
	}
	for _, c := range []struct {
		knob   string
		values []string
		// first are settings without which it cannot be.
		first []spec.Setting
	}{
		{knob: "gro", values: []string{"on", "off"}},
		{knob: "gso", values: []string{"off", "on"}},
		{knob: "tso", values: []string{"off", "on"}},
		{knob: "sg", values: []string{"off", "on"}},
		{knob: "tx-checksum", values: []string{"off", "on"}},
		{knob: "rx-checksum", values: []string{"off", "on"}},
		{knob: "feature.tx-udp-segmentation", values: []string{"off", "on"}},
		{knob: "feature." + mangledIDs, values: []string{"off", "on"}},
		{knob: "threaded", values: []string{"on", "off"}, first: []spec.Setting{of("v0", "gro", "on")}},
		{knob: "gro_flush_timeout", values: []string{"20000", "0"}},
		{knob: "napi_defer_hard_irqs", values: []string{"2", "0"}},
		{knob: "rps", values: []string{"0", cpus, "none"}},
		{knob: "rps_flow_cnt", values: []string{"1000", "4096", "0"}},
		{knob: "xps", values: []string{"0", cpus, "none"}},
		{knob: "mtu", values: []string{"9000", "1400"}},
		{knob: "txqueuelen", values: []string{"17", "0"}},
		{knob: "channels.rx", values: []string{"2", "1"}},
		{knob: "channels.tx", values: []string{"3"}},
		{knob: "qdisc", values: []string{"pfifo", "pfifo limit 7", "bfifo limit 3000", "pfifo_fast", "mq", "noqueue", "default"}},
	} {
		t.Run(c.knob, func(t *testing.T) {
			labtest.NoLeaks(t)
			if c.knob == "threaded" {
				labtest.Need(t, feature.ThreadedNAPI)
			}
			p := onV0(ns)
			was, all := readAt(t, p, c.knob), everyFeature(t, p)
			h := newTestHolder(t, ns, newJournal(t))
			for _, value := range c.values {
				asked := of("v0", c.knob, value)
				if _, err := h.Set(t.Context(), local(append(c.first, asked)...)); err != nil {
					skipForbidden(t, err)
					t.Fatal(err)
				}
				ctl, err := open(p, asked)
				if err != nil {
					t.Fatal(err)
				}
				if now, err := ctl.Read(t.Context()); err != nil || !ctl.Equal(now, value) {
					t.Errorf("%s reads %s, %v", asked, now, err)
				}
				if done, err := isSettled(t.Context(), ctl); !done || err != nil {
					t.Errorf("%s is not settled: %v", asked, err)
				}
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if now := readAt(t, p, c.knob); now != was {
				t.Errorf("it was %s and is %s", was, now)
			}
			if now := everyFeature(t, p); now != all {
				t.Errorf("features were\n%s\nand are\n%s", all, now)
			}
		})
	}
}

// skipForbidden skips what only the machine's root may change.
func skipForbidden(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, unix.EPERM) && errors.Is(err, feature.ErrUnavailable) {
		labtest.Skip(t, err)
	}
}

func isSettled(ctx context.Context, c Control) (bool, error) {
	if s, ok := c.(Settler); ok {
		return s.Settled(ctx)
	}
	return true, nil
}

func everyFeature(t testing.TB, p Place) string {
	t.Helper()
	all, err := featureStates(p.ethtoolWords)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range all {
		if f.wanted || f.active {
			b.WriteString(f.name + " wanted " + onOff(f.wanted) + ", is " + onOff(f.active) + "\n")
		}
	}
	return b.String()
}

// Queues that differ get each its own value back, also when they went and came
// with a change of how many there are.
func TestQueuesOfTheirOwn(t *testing.T) {
	ns := newVeth(t, 4)
	p := onV0(ns)
	const mixed = "rx-0:none rx-1:0 rx-2:none rx-3:0"
	c, err := open(p, of("v0", "rps", ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), mixed); err != nil {
		skipForbidden(t, err)
		t.Fatal(err)
	}
	for _, s := range []spec.Setting{of("v0", "rps", "0"), of("v0", "channels.rx", "1")} {
		h := newTestHolder(t, ns, newJournal(t))
		if _, err := h.Set(t.Context(), local(s)); err != nil {
			t.Fatal(err)
		}
		if now := readAt(t, p, "rps"); now == mixed {
			t.Errorf("%s left %s", s, now)
		}
		if err := h.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := readAt(t, p, "rps"); now != mixed {
			t.Errorf("after %s it was %s and is %s", s, mixed, now)
		}
	}
}

// A device that went meanwhile has nothing to be restored.
func TestDeviceGone(t *testing.T) {
	ns := newVeth(t, 4)
	p := onV0(ns)
	var controls []Control
	for _, name := range []string{"gro", "channels.rx", "threaded", "rps", "xps", "mtu", "txqueuelen", "qdisc", "gro_flush_timeout"} {
		c, err := open(p, of("v0", name, ""))
		if err != nil {
			t.Fatal(err)
		}
		controls = append(controls, c)
	}
	h := newTestHolder(t, ns, newJournal(t))
	if _, err := h.Set(t.Context(), local(of("v0", "mtu", "1400"), of("v0", "gro", "on"), of("v0", "txqueuelen", "3"))); err != nil {
		t.Fatal(err)
	}
	if err := p.link(func(nl *netlink.Handle, l netlink.Link) error { return nl.LinkDel(l) }); err != nil {
		t.Fatal(err)
	}
	for _, c := range controls {
		if text, err := c.Read(t.Context()); !errors.Is(err, errGone) {
			t.Errorf("%s of an interface that is gone reads %s, %v", c.ID(), text, err)
		}
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Error(err)
	}
}
