package ether

import (
	"errors"
	"os"

	"netdelta/internal/spec"
)

// Config is all that Start needs to know.
type Config struct {
	// A and B are the TAPs' descriptors. They are set to block.
	A, B *os.File
	// Handoff is the context's: a second thread writes the frames.
	Handoff bool
	// Bounded says that the TAPs were made with a bound to their queues
	// (tuntap.Options.SndBuf), at which the wire waits.
	Bounded bool
	// Frags says that the TAPs take frames in page fragments
	// (tuntap.Options.NAPIFrags).
	Frags bool
	// CPU is the one that all the wire's threads are bound to, sys.NoCPU for
	// none.
	CPU int
	// VNetHdr says that both TAPs were made with a virtio-net header.
	VNetHdr bool
	// Wire is what is done to frames on the way.
	Wire spec.Wire
	// MTU is the most bytes of a packet that pass, from MinMTU to MaxMTU;
	// 0 means DefaultMTU. A frame may have 18 bytes more (Ethernet header
	// and VLAN tag); longer ones are dropped. Frames that are still to be
	// segmented pass whatever their length.
	MTU int
}

func (c Config) settings() (settings, error) {
	if c.A == nil || c.B == nil {
		return settings{}, errors.New("start the wire: it needs two TAPs")
	}
	s := settings{handoff: c.Handoff, bounded: c.Bounded, frags: c.Frags, cpu: c.CPU, vnetHdr: c.VNetHdr, mtu: c.MTU, wire: c.Wire}
	if s.mtu == 0 {
		s.mtu = DefaultMTU
	}
	return s, s.check()
}
