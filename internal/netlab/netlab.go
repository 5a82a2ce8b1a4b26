// Package netlab builds labs: two hosts in network namespaces of their own,
// and a link between them of a kind and with a receive-handler context.
//
// Nothing has a name outside of the process: the namespaces are held by
// descriptors only, TAPs by the wire process, and that ends with its control
// socket. So whatever ends the process takes the lab with it. Control groups
// alone have names (Lab.Classify): those that a killed process left, which hold
// nothing, the next one removes.
//
// Whatever is set is read back, and a setting that did not stick is an error.
package netlab

import (
	"fmt"
	"strings"

	"netdelta/internal/ether"
	"netdelta/internal/feature"
	"netdelta/internal/spec"
)

// Kinds of link.
const (
	Ether = "ether" // two TAPs and our own wire between them
	Veth  = "veth"  // the kernel's pair of connected interfaces
)

// Limits of an MTU in bytes: IPv6 needs 1280 (RFC 8200, 5), and a TAP takes
// no more than 65521.
const (
	DefaultMTU = 1500
	MinMTU     = 1280
	MaxMTU     = ether.MaxMTU
)

// maxFragsMTU and maxFragsFrame are the most bytes of a packet, and of a frame that
// is not segmented yet, where TAPs take page fragments. The kernel's limit for both
// is 65535 bytes with the Ethernet header and what it keeps free before it (NET_SKB_PAD,
// a cache line of 256 bytes at most, and 2 more; tun_napi_alloc_frags in
// drivers/net/tun.c).
const (
	maxFragsFrame = 65535 - 256 - 2
	maxFragsMTU   = maxFragsFrame - 14 - 4 // Ethernet header and VLAN tag
)

// LinkConfig says what link to build.
type LinkConfig struct {
	Kind string // Ether or Veth
	// Context is the receive handlers', the same at both hosts: one of
	// Contexts(Kind), or a name that ContextOn knows.
	Context string
	// Offload lets frames cross the link with their checksums left undone and
	// longer than the MTU, to be segmented (TSO, USO). Without it both are done
	// in software before the interface, as for a network card that can do
	// neither. A veth has no NAPI for such frames, so with it only backlog.
	Offload bool
	// MTU is in bytes, MinMTU to MaxMTU; 0 means DefaultMTU.
	MTU int
	// Wire is what ether's wire does to frames; a veth has none.
	Wire spec.Wire
	// HandlerCPU is the CPU that kernel threads which handle received frames are
	// bound to, and that a backlog's frames are steered to; sys.NoCPU leaves the
	// former to the scheduler and has the latter on the wire's CPU, or any.
	HandlerCPU int
	// WireCPU is the CPU that ether's threads are bound to, sys.NoCPU for
	// none. A veth has no threads of its own.
	WireCPU int
	// Busy are CPUs of which a thread of real-time priority takes three quarters as long
	// as the link is there, in bursts (BusyFor), comma-separated; empty for none.
	Busy string
}

// check reports what is wrong with the configuration, naming what would be
// right, and fills defaults in.
func (c *LinkConfig) check() error {
	k, err := kindOf(c.Kind)
	if err != nil {
		return err
	}
	if _, ok := ContextOn(c.Kind, c.Context); !ok {
		return fmt.Errorf("unknown context %q of %s: valid are %s", c.Context, c.Kind, strings.Join(k.names(), ", "))
	}
	if c.MTU == 0 {
		c.MTU = DefaultMTU
	}
	if c.MTU < MinMTU || c.MTU > MaxMTU {
		return fmt.Errorf("MTU %d is out of range: %d to %d bytes", c.MTU, MinMTU, MaxMTU)
	}
	if c.Kind == Ether && etherContextOf(c.Context).TAP.NAPIFrags && c.MTU > maxFragsMTU {
		return fmt.Errorf("MTU %d is out of range of context %s: %d to %d bytes", c.MTU, c.Context, MinMTU, maxFragsMTU)
	}
	if c.Kind == Veth && !c.Wire.Plain() {
		return fmt.Errorf("veth with %s: a veth has no wire that could do that; use link %s", c.Wire, Ether)
	}
	if err := c.Wire.Check(); err != nil {
		return err
	}
	if c.Kind == Veth && c.Offload && vethContextOf(c.Context).gro {
		return fmt.Errorf("veth with context %s and offload: the veth driver passes NAPI by for frames that are not segmented yet; use context backlog, or no offload", c.Context)
	}
	return nil
}

// Check reports whether the link could be built here: an error that names
// the valid values, or a *feature.Error that says what is missing and what to
// do. Its answers about the system are kept: only the first call takes time,
// some 100 ms.
func Check(c LinkConfig) error {
	if err := c.check(); err != nil {
		return err
	}
	for _, p := range c.needs() {
		if err := p.Err(); err != nil {
			return fmt.Errorf("link %s, context %s: %w", c.Kind, c.Context, err)
		}
	}
	return nil
}

// needs lists what the system must be able to do, in the order in which one
// builds on the other.
func (c *LinkConfig) needs() []feature.Probe {
	probes := []feature.Probe{feature.NetNS}
	var threaded bool
	switch c.Kind {
	case Veth:
		probes = append(probes, feature.Veth)
		threaded = vethContextOf(c.Context).threaded
	case Ether:
		context := etherContextOf(c.Context)
		probes = append(probes, feature.TAP)
		if context.TAP.NAPI {
			probes = append(probes, feature.TAPNAPI)
		}
		if context.TAP.NAPIFrags {
			probes = append(probes, feature.TAPFrags)
		}
		if context.Steered {
			probes = append(probes, feature.Steering)
		}
		if c.Offload {
			probes = append(probes, feature.VNetHdr)
		}
		threaded = context.Threaded
	}
	if threaded {
		probes = append(probes, feature.ThreadedNAPI)
	}
	return probes
}
