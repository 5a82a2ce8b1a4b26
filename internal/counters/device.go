package counters

import (
	"net"
	"net/netip"
	"strconv"
)

// deviceOf is the name of the interface that has the address in this network
// namespace; empty if none has. An address with a zone says itself which: others
// may have the same one.
func deviceOf(a netip.Addr) string {
	if a.IsUnspecified() {
		return ""
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, d := range all {
		if zone := a.Zone(); zone != "" && zone != d.Name && zone != strconv.Itoa(d.Index) {
			continue
		}
		addrs, err := d.Addrs()
		if err != nil {
			continue
		}
		for _, own := range addrs {
			if p, err := netip.ParsePrefix(own.String()); err == nil && p.Addr().Unmap() == a.Unmap().WithZone("") {
				return d.Name
			}
		}
	}
	return ""
}
