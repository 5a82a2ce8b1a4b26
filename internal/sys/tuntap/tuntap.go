// Package tuntap makes TAP devices: Ethernet interfaces whose other side is a
// file descriptor. A frame that the kernel sends through the interface is
// read from the descriptor, and a frame written to the descriptor is received
// by the interface (Documentation/networking/tuntap.rst).
package tuntap

import "fmt"

// Options are the variants of a TAP.
type Options struct {
	// NAPI has received frames handled by a NAPI poll in softirq rather than
	// inside write(2) (IFF_NAPI, Linux 4.15).
	NAPI bool
	// NAPIFrags has frames built from page fragments by the NAPI instance,
	// as a driver with GRO does (IFF_NAPI_FRAGS, Linux 4.15). It needs NAPI,
	// and CAP_NET_ADMIN in the initial user namespace.
	NAPIFrags bool
	// VNetHdr puts a virtio-net header of VNetHdrSize bytes before each frame
	// and lets the kernel send frames with checksums and segmentation left
	// undone (IFF_VNET_HDR, TUNSETOFFLOAD).
	VNetHdr bool
	// SndBuf limits the bytes of received frames, counted with the kernel's
	// own overhead, that wait for the stack (TUNSETSNDBUF): a write beyond it
	// fails with EAGAIN if it does not block (sys.TryWrite). One that blocks
	// is not woken when there is room again, unless poll(2) was called
	// before. 0 leaves the kernel's default, no limit.
	SndBuf int
}

// check reports what no kernel takes.
func (o Options) check() error {
	if o.NAPIFrags && !o.NAPI {
		return fmt.Errorf("TAP options: NAPIFrags needs NAPI")
	}
	if o.SndBuf < 0 {
		return fmt.Errorf("TAP options: send buffer of %d bytes: it must be at least 1, or 0 for the kernel's default", o.SndBuf)
	}
	return nil
}

// maxName is IFNAMSIZ of linux/if.h less the closing NUL.
const maxName = 15

// checkName reports an interface name that does not fit. An empty name lets
// the kernel choose.
func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("TAP name %q has %d bytes: at most %d fit", name, len(name), maxName)
	}
	return nil
}
