package counters

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest/veth"
)

// Packets and bytes that cross a link are counted at both of its interfaces,
// and what is switched shows.
func TestDeviceCounts(t *testing.T) {
	lab, link := veth.Pair(t)
	out := openAt(t, lab.A, &Options{Device: lab.A.Device}, openDevice)
	in := openAt(t, lab.B, &Options{Device: lab.B.Device}, openDevice)
	outBefore, inBefore := sampleAt(t, lab.A, out), sampleAt(t, lab.B, in)

	const n, size, headers = 50, 1000, 14 + 20 + 8
	from, to := socketAt(t, lab.A, unix.SOCK_DGRAM, link.AddrA()), socketAt(t, lab.B, unix.SOCK_DGRAM, link.AddrB())
	sendMany(t, from, to, n, size)
	got := 0
	eventually(t, "all datagrams come", func() bool { got += drained(to); return got == n })

	o, i := between(t, outBefore, sampleAt(t, lab.A, out)), between(t, inBefore, sampleAt(t, lab.B, in))
	for _, c := range []struct {
		name   string
		counts map[string]int64
	}{{"tx", o.Counts}, {"rx", i.Counts}} {
		// Neighbours may have asked for each other meanwhile.
		packets, bytes := c.counts[c.name+"_packets"], c.counts[c.name+"_bytes"]
		if packets < n || packets > n+8 || bytes < n*(size+headers) || bytes > n*(size+headers)+2000 {
			t.Errorf("%d datagrams of %d bytes: %v", n, size, c.counts)
		}
	}
	if l := i.Levels; l["up"] != 1 || l["mtu"] != 1500 || l["txqueuelen"] == 0 {
		t.Errorf("levels %v", l)
	}
	if _, there := i.Levels["speed_bps"]; there {
		t.Errorf("a veth has a speed: %v", i.Levels)
	}
	if is, there := i.Levels["feature.gro"]; !there || is != 0 {
		t.Errorf("GRO is off: %v", i.Levels)
	}
	on(t, lab.B, func() error { return setGRO(lab.B.Device) })
	if r := between(t, inBefore, sampleAt(t, lab.B, in)); r.Levels["feature.gro"] != 1 || r.Was["feature.gro"] != 0 {
		t.Errorf("GRO was switched on: %v, was %v", r.Levels, r.Was)
	}
}

// A link that went and came is no longer the one that it was.
func TestDeviceLinkFlap(t *testing.T) {
	lab, _ := veth.Pair(t)
	s := openAt(t, lab.B, &Options{Device: lab.B.Device}, openDevice)
	before := sampleAt(t, lab.B, s)
	set := func(change func(netlink.Link) error) {
		on(t, lab.A, func() error {
			dev, err := netlink.LinkByName(lab.A.Device)
			if err != nil {
				return err
			}
			return change(dev)
		})
	}
	set(netlink.LinkSetDown)
	var down *sample
	eventually(t, "the link goes", func() bool { down = sampleAt(t, lab.B, s); return down.levels["up"] == 0 })
	if r := between(t, before, down); r.Counts["carrier_changes"] == 0 || r.Was["up"] != 1 {
		t.Errorf("a link that went: %v, was %v", r.Counts, r.Was)
	}
	set(netlink.LinkSetUp)
	var up *sample
	eventually(t, "the link comes", func() bool { up = sampleAt(t, lab.B, s); return up.levels["up"] == 1 })
	if r := between(t, before, up); r.Counts["carrier_changes"] < 2 || len(r.Was) != 0 {
		t.Errorf("a link that went and came: %v, was %v", r.Counts, r.Was)
	}
}

// An interface that is gone has a reason and no figures.
func TestDeviceGone(t *testing.T) {
	lab, link := veth.Pair(t)
	sources := map[string]source{
		"device": openAt(t, lab.A, &Options{Device: lab.A.Device}, openDevice),
		"driver": openAt(t, lab.A, &Options{Device: lab.A.Device}, openDriver),
		"qdisc":  openAt(t, lab.A, &Options{Device: lab.A.Device}, openQdisc),
	}
	if err := link.Close(); err != nil {
		t.Fatal(err)
	}
	for name, s := range sources {
		on(t, lab.A, func() error {
			if x, err := s.take(); err == nil || !strings.Contains(err.Error(), lab.A.Device) {
				t.Errorf("%s of an interface that is gone: %v, %v", name, x, err)
			}
			return nil
		})
	}
}

// What is not known is missing, and says why.
func TestDeviceUnknown(t *testing.T) {
	for want, o := range map[string]*Options{
		"address of every interface": {Addr: netip.MustParseAddr("0.0.0.0")},
		"192.0.2.77":                 {Addr: netip.MustParseAddr("192.0.2.77")},
		"not known":                  {},
		"nosuchdevice":               {Device: "nosuchdevice"},
	} {
		for name, open := range map[string]func(*Options) (source, error){"device": openDevice, "driver": openDriver, "qdisc": openQdisc} {
			if _, err := open(o); !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "no such device") {
				t.Errorf("%s of %+v: %v", name, o, err)
			}
		}
	}
}

func TestDeviceOf(t *testing.T) {
	lab, link := veth.Pair(t)
	on(t, lab.A, func() error {
		for addr, want := range map[netip.Addr]string{
			link.AddrA(): lab.A.Device, netip.MustParseAddr("127.0.0.1"): "lo",
			link.AddrB(): "", netip.MustParseAddr("0.0.0.0"): "", netip.MustParseAddr("::"): "",
		} {
			if got := deviceOf(addr); got != want {
				t.Errorf("%v is the address of %q, want %q", addr, got, want)
			}
		}
		return nil
	})
}
