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
	c, _ := ether.ContextOf(k.cfg.Context)
	c.TAP.VNetHdr = k.cfg.Offload
	return []step{
		{"make the TAPs", func(context.Context) error {
			return k.onBoth(func(h, _ *Host) error { return k.makeTAP(h, c.TAP) })
		}},
		{"start the wire", func(context.Context) error { return k.startWire(c) }},
	}
}

func (k *Link) makeTAP(h *Host, o tuntap.Options) error {
	err := h.NS.Do(func() error {
		f, _, err := tuntap.Open(h.Device, o)
		if err != nil {
			return err
		}
		k.taps = append(k.taps, f)
		return checkTAP(f, o)
	})
	if err != nil {
		return err
	}
	return h.configure(k.cfg.MTU)
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
	}{{"IFF_NAPI", unix.IFF_NAPI, o.NAPI}, {"IFF_VNET_HDR", unix.IFF_VNET_HDR, o.VNetHdr}} {
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
		CPU:     k.cfg.WireCPU,
		VNetHdr: k.cfg.Offload,
		MTU:     k.cfg.MTU,
	})
	return err
}
