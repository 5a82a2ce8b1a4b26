package knob

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
	"netdelta/internal/spec"
)

// pathOf is a request of host a of a lab, with the path's addresses.
func pathOf(settings ...spec.Setting) Request {
	return Request{End: spec.EndLocal, Settings: settings, Probe: true,
		Addr: netip.MustParseAddr("192.0.2.1"), Peer: netip.MustParseAddr("192.0.2.2")}
}

func change(t *testing.T, host *netlab.Host, f func(*netlink.Handle, netlink.Link) error) {
	t.Helper()
	if err := (Place{NS: host.NS, Device: host.Device}).link(f); err != nil {
		t.Fatal(err)
	}
}

func mtuOf(t *testing.T, host *netlab.Host) (mtu int) {
	t.Helper()
	change(t, host, func(_ *netlink.Handle, l netlink.Link) error {
		mtu = l.Attrs().MTU
		return nil
	})
	return mtu
}

func TestDeviceOfThePath(t *testing.T) {
	labtest.NoLeaks(t)
	lab, _ := veth.Pair(t)
	p := Place{NS: lab.A.NS, Peer: netip.MustParseAddr("192.0.2.2")}
	for _, c := range []struct{ name, addr string }{{"", "192.0.2.1"}, {"", "::ffff:192.0.2.1"}, {"", ""}, {"", "0.0.0.0"}, {lab.A.Device, ""}} {
		var addr netip.Addr
		if c.addr != "" {
			addr = netip.MustParseAddr(c.addr)
		}
		if name, index, err := p.device(c.name, addr); err != nil || name != lab.A.Device || index == 0 {
			t.Errorf("%+v: %s, %d, %v", c, name, index, err)
		}
	}
	p.Peer = netip.MustParseAddr("203.0.113.1")
	if name, _, err := p.device("", netip.Addr{}); err == nil || !strings.Contains(err.Error(), "203.0.113.1 is reached") {
		t.Errorf("%s, %v; want that there is no way", name, err)
	}
}

func TestPeerIsAsked(t *testing.T) {
	labtest.NoLeaks(t)
	lab, _ := veth.Pair(t)
	p, peer := Place{NS: lab.A.NS, Device: lab.A.Device}, netip.MustParseAddr("192.0.2.2")
	if yes, err := answers(t.Context(), p, netip.MustParseAddr("192.0.2.1"), peer); err != nil || !yes {
		t.Errorf("%v, %v; want an answer", yes, err)
	}
	if yes, err := answers(t.Context(), p, netip.Addr{}, netip.MustParseAddr("192.0.2.99")); err != nil || yes {
		t.Errorf("nobody answered: %v, %v", yes, err)
	}
	if yes, err := answers(t.Context(), p, netip.Addr{}, netip.MustParseAddr("203.0.113.1")); err != nil || yes {
		t.Errorf("there is no route: %v, %v", yes, err)
	}
}

// TestDeviceSetting: of the path's interface, settled and put back.
func TestDeviceSetting(t *testing.T) {
	labtest.NoLeaks(t)
	lab, _ := veth.Pair(t)
	dir, was := newJournal(t), mtuOf(t, lab.A)
	h := newTestHolder(t, lab.A.NS, dir)
	changes, err := h.Set(t.Context(), pathOf(setting("mtu", "1400")))
	if err != nil || len(changes) != 1 || changes[0].Device != lab.A.Device || changes[0].Settled <= 0 {
		t.Fatalf("%+v, %v; want %s settled", changes, err, lab.A.Device)
	}
	if !h.peers[netip.MustParseAddr("192.0.2.2")] {
		t.Error("the peer was not asked, or did not answer")
	}
	// Renamed meanwhile, it is the same interface.
	change(t, lab.A, func(nl *netlink.Handle, l netlink.Link) error { return nl.LinkSetName(l, "renamed") })
	lab.A.Device = "renamed"
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mtuOf(t, lab.A); got != was {
		t.Errorf("the MTU is %d, it was %d", got, was)
	}
	checkEmpty(t, dir)
	change(t, lab.A, func(nl *netlink.Handle, l netlink.Link) error { return nl.LinkSetName(l, "lab-a") })
	lab.A.Device = "lab-a"
}

// TestSettleWaits: for a link, and for a peer, that the change has taken away.
func TestSettleWaits(t *testing.T) {
	for _, c := range []struct {
		name, want string
		lose, back string
		probe      bool
	}{
		{"link", "link of lab-a did not come up", "ip link set lab-a down", "ip link set lab-a up", false},
		{"peer", "192.0.2.2, which answered ICMP echoes before", "ip addr del 192.0.2.1/24 dev lab-a", "ip addr add 192.0.2.1/24 dev lab-a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			lab, _ := veth.Pair(t)
			dir := newJournal(t)
			h := newTestHolder(t, lab.A.NS, dir)
			r := pathOf(commandSetting("lost", c.lose, c.back, ""))
			r.Probe = c.probe
			h.patience = 100 * time.Millisecond
			_, err := h.Set(t.Context(), r)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			// Here it comes back, after a while.
			h.patience = settleLimit
			r.Settings[0] = commandSetting("lost for a while", c.lose+"; (sleep 0.1; "+c.back+") &", "true", "")
			changes, err := h.Set(t.Context(), r)
			if err != nil || len(changes) != 1 || changes[0].Settled < 50*time.Millisecond {
				t.Errorf("%+v, %v; want that it was waited for", changes, err)
			}
			if err := h.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestDownStaysDown: a link that was down before is not waited for.
func TestDownStaysDown(t *testing.T) {
	labtest.NoLeaks(t)
	lab, _ := veth.Pair(t)
	change(t, lab.A, func(nl *netlink.Handle, l netlink.Link) error { return nl.LinkSetDown(l) })
	h := newTestHolder(t, lab.A.NS, newJournal(t))
	s := setting("mtu", "1400")
	s.Device = lab.A.Device
	if changes, err := h.Set(t.Context(), pathOf(s)); err != nil || len(changes) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestGoneDevice: with the interface its settings went, and nothing is left.
func TestGoneDevice(t *testing.T) {
	labtest.NoLeaks(t)
	lab, link := veth.Pair(t)
	dir := newJournal(t)
	h := newTestHolder(t, lab.A.NS, dir)
	if _, err := h.Set(t.Context(), pathOf(setting("mtu", "1400"))); err != nil {
		t.Fatal(err)
	}
	abandon(t, h)
	if _, err := h.Set(t.Context(), pathOf(setting("txqueuelen", "77"))); err != nil {
		t.Fatal(err)
	}
	if err := link.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Errorf("what has gone cannot be restored, and need not be: %v", err)
	}
	all, err := Recover(t.Context(), dir)
	if err != nil || len(all) != 1 || all[0].Err != nil || !strings.Contains(all[0].Done, "lab-a has gone") {
		t.Errorf("%+v, %v", all, err)
	}
	checkEmpty(t, dir)
}
