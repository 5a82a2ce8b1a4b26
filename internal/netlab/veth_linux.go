package netlab

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink"
)

// vethSteps build a veth pair.
func (k *Link) vethSteps() []step {
	return []step{
		{"make the veth pair", k.makeVeth},
		{"set offloads", func(context.Context) error {
			return k.onBoth(func(h, _ *Host) error {
				features, err := h.eth.Features(h.Device)
				if err != nil {
					return fmt.Errorf("read features of %s: %w", h.Device, err)
				}
				if err := h.eth.Change(h.Device, k.wanted(features)); err != nil {
					return fmt.Errorf("change features of %s: %w", h.Device, err)
				}
				return nil
			})
		}},
	}
}

func (k *Link) makeVeth(context.Context) error {
	a, b := k.lab.A, k.lab.B
	attrs := netlink.NewLinkAttrs()
	attrs.Name = a.Device
	pair := netlink.NewVeth(attrs)
	pair.PeerName = b.Device
	pair.PeerNamespace = netlink.NsFd(b.NS.Fd())
	if err := a.nl.LinkAdd(pair); err != nil {
		return err
	}
	return k.onBoth(func(h, _ *Host) error { return h.configure(k.cfg.MTU) })
}

// removeVeth deletes the pair, if it was made; both ends go together.
func (k *Link) removeVeth() error {
	a := k.lab.A
	there, err := a.hasDevice()
	if err != nil || !there {
		return err
	}
	dev, err := a.device()
	if err != nil {
		return err
	}
	// A socket of its own: the request is answered late, and a handle does
	// one thing at a time.
	nl, err := a.netlink()
	if err != nil {
		return err
	}
	k.lab.reap(func() error {
		defer nl.Close()
		if err := nl.LinkDel(dev); err != nil {
			return fmt.Errorf("delete %s: %w", a.Device, err)
		}
		return nil
	})
	return nil
}
