package netlab

import (
	"context"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/sys/tuntap"
)

// etherSteps build two TAPs and the wire between them. Where a context gives
// the TAPs a bounded queue, the wire is told to wait for room in it.
func (k *Link) etherSteps() []step {
	c := etherContextOf(k.cfg.Context)
	c.TAP.VNetHdr = k.cfg.Offload
	return []step{
		{"make the TAPs", func(context.Context) error {
			return k.onBoth(func(h, _ *Host) error { return k.makeTAP(h, c) })
		}},
		{"start the wire", func(context.Context) error { return k.startWire(c) }},
	}
}

func (k *Link) makeTAP(h *Host, c ether.Context) error {
	err := h.NS.Do(func() error {
		open := func() error {
			f, _, err := tuntap.Open(h.Device, c.TAP)
			if err != nil {
				return err
			}
			k.taps = append(k.taps, f)
			return checkTAP(f, c.TAP)
		}
		if !c.Steered {
			return open()
		}
		cpu, err := k.cfg.steersTo()
		if err != nil {
			return err
		}
		return h.NS.MakeSteered(h.Device, cpu, open)
	})
	if err != nil {
		return err
	}
	if err := h.configure(k.cfg.MTU); err != nil || !k.limited() {
		return err
	}
	dev, err := h.device()
	if err == nil {
		err = h.nl.LinkSetGSOMaxSize(dev, maxFragsFrame)
	}
	if err != nil {
		return fmt.Errorf("limit the frames of %s that are not segmented yet to %d bytes: %w", h.Device, maxFragsFrame, err)
	}
	return nil
}

// limited tells whether frames that are not segmented yet have a limit of their
// own: the kernel's usual one lets pass what page fragments have no room for.
func (k *Link) limited() bool {
	return k.cfg.Kind == Ether && k.cfg.Offload && etherContextOf(k.cfg.Context).TAP.NAPIFrags
}

// checkTAP reads back how the TAP was made (TUNGETIFF, TUNGETSNDBUF).
func checkTAP(f *os.File, o tuntap.Options) error {
	req, err := unix.NewIfreq("tap")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(int(f.Fd()), unix.TUNGETIFF, req); err != nil {
		return fmt.Errorf("read the TAP's flags back (TUNGETIFF): %w", err)
	}
	for _, flag := range []struct {
		name string
		bit  uint16
		want bool
	}{
		{"IFF_NAPI", unix.IFF_NAPI, o.NAPI}, {"IFF_NAPI_FRAGS", unix.IFF_NAPI_FRAGS, o.NAPIFrags}, {"IFF_VNET_HDR", unix.IFF_VNET_HDR, o.VNetHdr},
	} {
		if got := req.Uint16()&flag.bit != 0; got != flag.want {
			return fmt.Errorf("the TAP has %s %v after %v was asked for: the kernel ignored it", flag.name, got, flag.want)
		}
	}
	want := o.SndBuf
	if want == 0 {
		want = math.MaxInt32 // tun_chr_open in drivers/net/tun.c
	}
	got, err := unix.IoctlGetInt(int(f.Fd()), unix.TUNGETSNDBUF)
	if err != nil {
		return fmt.Errorf("read the TAP's queue bound back (TUNGETSNDBUF): %w", err)
	}
	if got != want {
		return fmt.Errorf("the TAP has a queue bound of %d bytes after %d was asked for: the kernel ignored it", got, want)
	}
	return nil
}

// startWire gives the wire process copies of the TAPs' descriptors. Ours stay
// open, so that the TAPs go when we close them rather than at the wire's exit,
// which would wait for it. If this process is killed, the wire ends too, and
// they go all the same.
func (k *Link) startWire(c ether.Context) error {
	var err error
	k.wire, err = ether.Start(ether.Config{
		A:       k.taps[0],
		B:       k.taps[1],
		Handoff: c.Handoff,
		Bounded: c.TAP.SndBuf > 0,
		Frags:   c.TAP.NAPIFrags,
		CPU:     k.cfg.WireCPU,
		Wire:    k.cfg.Wire,
		VNetHdr: k.cfg.Offload,
		MTU:     k.cfg.MTU,
	})
	return err
}
