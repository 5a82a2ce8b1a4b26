package hosts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// Path is the path between the two ends of a pair, as it is. It is a
// run.Setup: of a single variant, since it changes nothing.
type Path struct {
	Pair *Pair
	// DataLocal and DataRemote are the addresses that the traffic has; those
	// of the control connections, and of the routes, where they are not given.
	DataLocal, DataRemote netip.Addr
	// What follows is as run.Path has it.
	CPULocal, CPURemote       int
	CPUsLocal, CPUsRemote     []int
	DeviceLocal, DeviceRemote string
	PortLocal, PortRemote     uint16
	OneMachine                bool

	first netip.Addr // the local end's address when the run began
}

// Apply finds the addresses of both ends. It asks for the route each time, so
// that one that has changed meanwhile is used, and said.
func (p *Path) Apply(context.Context, spec.Variant) (run.Path, error) {
	remote, err := p.remote()
	if err != nil {
		return run.Path{}, err
	}
	path := run.Path{
		RemoteAddr: remote, LocalAddr: p.DataLocal,
		LocalCPU: p.CPULocal, RemoteCPU: p.CPURemote, LocalCPUs: p.CPUsLocal, RemoteCPUs: p.CPUsRemote,
		LocalDevice: p.DeviceLocal, RemoteDevice: p.DeviceRemote, LocalPort: p.PortLocal, RemotePort: p.PortRemote,
		OneMachine: p.OneMachine,
	}
	switch {
	case p.DataLocal.IsValid():
	case !p.Pair.here:
		path.LocalAddr = unspecified(remote)
	default:
		if path.LocalAddr, err = sourceFor(remote); err != nil {
			return run.Path{}, err
		}
		path.Warnings = append(path.Warnings, p.moved(path.LocalAddr)...)
	}
	if p.Pair.here && remote != path.LocalAddr && !remote.IsLoopback() && isOwn(remote) {
		path.Warnings = append(path.Warnings, run.Loopback(path.LocalAddr, remote))
	}
	return path, nil
}

// remote is the remote end's address on the path.
func (p *Path) remote() (netip.Addr, error) {
	if p.DataRemote.IsValid() {
		return p.DataRemote, nil
	}
	a := p.Pair.Remote.RemoteAddr().Addr()
	name := p.Pair.Remote.Host()
	switch {
	case !a.IsValid():
		return a, fmt.Errorf("the control connection to %s has no IP address: give the path's with --data", name)
	case a.IsLinkLocalUnicast() && a.Is6():
		return a, fmt.Errorf("%s was reached at %v, and what zone that address has at the other end is not known: name the host by another address, or give the path's with --data", name, a)
	case a.IsLoopback() && !p.Pair.here && !p.Pair.Local.RemoteAddr().Addr().IsLoopback():
		return a, fmt.Errorf("%s was reached at %v, where %s cannot reach it: name it by its address on the path, or give that with --data", name, a, p.Pair.Local.Host())
	}
	return a, nil
}

// moved warns if the local end's address is no longer what it was.
func (p *Path) moved(now netip.Addr) []result.Warning {
	if !p.first.IsValid() {
		p.first = now
	}
	if p.first == now {
		return nil
	}
	return []result.Warning{{
		Code:   "address-changed",
		Text:   fmt.Sprintf("the way to the remote end now begins at %v; when the run began, at %v", now, p.first),
		Advice: "a route or an address of this host changed meanwhile: trials before and after may have taken different paths",
	}}
}

func unspecified(peer netip.Addr) netip.Addr {
	if peer.Unmap().Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// sourceFor is this host's address on the way to another: connecting a UDP
// socket looks the route up and sends nothing (udp(7)).
func sourceFor(peer netip.Addr) (netip.Addr, error) {
	const discard = 9 // any port will do
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(peer, discard)))
	if err != nil {
		var errno syscall.Errno
		if errors.As(err, &errno) {
			err = errno
		}
		return netip.Addr{}, fmt.Errorf("find the way to %v: %w (is there a route, and has this host an address of that family?)", peer, err)
	}
	defer c.Close()
	at, ok := netip.AddrFromSlice(c.LocalAddr().(*net.UDPAddr).IP)
	if !ok {
		return netip.Addr{}, fmt.Errorf("find the way to %v: no address came back", peer)
	}
	return at.Unmap(), nil
}

// isOwn says whether an address is one of this host's.
func isOwn(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false // then nothing is known
	}
	for _, own := range all {
		if p, err := netip.ParsePrefix(own.String()); err == nil && p.Addr().Unmap() == a.Unmap().WithZone("") {
			return true
		}
	}
	return false
}

// ParseData reads the addresses of the path, as REMOTE or LOCAL,REMOTE.
func ParseData(s string) (local, remote netip.Addr, err error) {
	if s == "" {
		return local, remote, nil
	}
	parts := strings.Split(s, ",")
	if len(parts) > 2 {
		return local, remote, fmt.Errorf("%q: give the remote end's address, or LOCAL,REMOTE", s)
	}
	addrs := make([]netip.Addr, len(parts))
	for i, part := range parts {
		a, err := netip.ParseAddr(strings.TrimSpace(part))
		if err != nil {
			return local, remote, fmt.Errorf("%q is no IP address", strings.TrimSpace(part))
		}
		if a = a.Unmap(); a.IsUnspecified() || a.IsMulticast() {
			return local, remote, fmt.Errorf("%v is no single host's address", a)
		}
		addrs[i] = a
	}
	if len(addrs) == 1 {
		return local, addrs[0], nil
	}
	if addrs[0].Is4() != addrs[1].Is4() {
		return local, remote, fmt.Errorf("%v and %v are of different families: give two of IPv4 or two of IPv6", addrs[0], addrs[1])
	}
	return addrs[0], addrs[1], nil
}
