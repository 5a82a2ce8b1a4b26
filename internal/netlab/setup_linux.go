package netlab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// txQueue is the transmit queue of Ethernet interfaces in packets.
const txQueue = 1000

// configure sets what both kinds of interface have.
func (h *Host) configure(mtu int) error {
	dev, err := h.device()
	if err != nil {
		return err
	}
	if err := h.nl.LinkSetHardwareAddr(dev, h.mac); err != nil {
		return fmt.Errorf("set the Ethernet address of %s: %w", h.Device, err)
	}
	if err := h.nl.LinkSetMTU(dev, mtu); err != nil {
		return fmt.Errorf("set the MTU of %s to %d bytes: %w", h.Device, mtu, err)
	}
	if err := h.nl.LinkSetTxQLen(dev, txQueue); err != nil {
		return fmt.Errorf("set the transmit queue of %s to %d packets: %w", h.Device, txQueue, err)
	}
	return nil
}

func (k *Link) setUp(context.Context) error {
	return k.onBoth(func(h, _ *Host) error {
		dev, err := h.device()
		if err != nil {
			return err
		}
		return h.nl.LinkSetUp(dev)
	})
}

// address gives the interfaces their addresses and each host the other's
// Ethernet address, so that no ARP or neighbour discovery falls into a
// window.
func (k *Link) address(context.Context) error {
	return k.onBoth(func(h, peer *Host) error {
		dev, err := h.device()
		if err != nil {
			return err
		}
		for _, p := range []struct{ own, far netip.Prefix }{{h.addr, peer.addr}, {h.addr6, peer.addr6}} {
			if p.own.Addr().Is6() && !k.lab.ipv6 {
				continue
			}
			addr := &netlink.Addr{IPNet: ipNet(p.own)}
			if p.own.Addr().Is6() {
				addr.Flags = unix.IFA_F_NODAD
			}
			if err := h.nl.AddrAdd(dev, addr); err != nil {
				return fmt.Errorf("add address %s to %s: %w", p.own, h.Device, err)
			}
			err := h.nl.NeighSet(&netlink.Neigh{
				LinkIndex:    dev.Attrs().Index,
				State:        netlink.NUD_PERMANENT,
				IP:           p.far.Addr().AsSlice(),
				HardwareAddr: peer.mac,
			})
			if err != nil {
				return fmt.Errorf("set neighbour %s of %s: %w", p.far.Addr(), h.Device, err)
			}
		}
		return nil
	})
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{
		IP:   p.Addr().AsSlice(),
		Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
	}
}

// thread has both interfaces' NAPI polled in kernel threads, if so configured.
// This goes by sysfs: netlink can do it from Linux 6.17 on only, sysfs from
// 5.12 on, when threads came. An interface that is up has its NAPI instances;
// a veth has none before.
func (k *Link) thread(context.Context) error {
	if _, threaded := k.polling(); !threaded {
		return nil // as interfaces are made
	}
	return k.onBoth(func(h, _ *Host) error {
		return k.bindNew(h, func() error {
			fs, err := h.NS.OpenSysfs()
			if err != nil {
				return err
			}
			return errors.Join(fs.Set("class/net/"+h.Device+"/threaded", "1"), fs.Close())
		})
	})
}

// offloads lists the interface features (as ethtool names them) that
// LinkConfig.Offload switches. A TAP's are those that its descriptor's reader
// agreed to, which leaves the later ones to the kernel's age.
var offloads = []struct {
	name  string
	kinds []string
}{
	{"tx-checksum-ip-generic", []string{Ether, Veth}},
	{"tx-tcp-segmentation", []string{Ether, Veth}},
	{"tx-tcp6-segmentation", []string{Ether, Veth}},
	{"tx-tcp-ecn-segmentation", []string{Veth}},
	{"tx-tcp-mangleid-segmentation", []string{Veth}},
	{"tx-tcp-accecn-segmentation", []string{Veth}},
	{"tx-udp-segmentation", []string{Veth}},
}

// wanted lists the features that matter, of those that the interface has, and
// what they are to be.
func (k *Link) wanted(has map[string]bool) map[string]bool {
	want := map[string]bool{}
	if k.cfg.Kind == Veth {
		want["rx-gro"] = vethContextOf(k.cfg.Context).gro
	}
	for _, o := range offloads {
		if _, there := has[o.name]; there && slices.Contains(o.kinds, k.cfg.Kind) {
			want[o.name] = k.cfg.Offload
		}
	}
	return want
}

// verify reads back what the steps before it set.
func (k *Link) verify(context.Context) error {
	return k.onBoth(func(h, _ *Host) error {
		dev, err := h.device()
		if err != nil {
			return err
		}
		a := dev.Attrs()
		switch {
		case !bytes.Equal(a.HardwareAddr, h.mac):
			return ignored(h.Device, "Ethernet address", a.HardwareAddr, h.mac)
		case a.MTU != k.cfg.MTU:
			return ignored(h.Device, "MTU", a.MTU, k.cfg.MTU)
		case a.TxQLen != txQueue:
			return ignored(h.Device, "transmit queue", a.TxQLen, txQueue)
		case k.limited() && a.GSOMaxSize != maxFragsFrame:
			return ignored(h.Device, "most bytes of a frame that is not segmented yet", a.GSOMaxSize, maxFragsFrame)
		case a.Flags&net.FlagUp == 0:
			return ignored(h.Device, "state", "down", "up")
		}
		features, err := h.eth.Features(h.Device)
		if err != nil {
			return fmt.Errorf("read features of %s: %w", h.Device, err)
		}
		for name, want := range k.wanted(features) {
			if features[name] != want {
				return ignored(h.Device, name, features[name], want)
			}
		}
		if err := k.verifySteering(h); err != nil {
			return err
		}
		return k.verifyThreads(h)
	})
}

func ignored(device, what string, got, want any) error {
	return fmt.Errorf("%s has %s %v after %v was asked for: the kernel ignored it", device, what, got, want)
}
