//go:build linux || darwin || freebsd

package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"netdelta/internal/ctl"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// place fills in an address that was left open with the host's own on the way
// to the peer, as the routes of the namespace (nil: the agent's) have it.
func place(ns *sys.NetNS, c *traffic.Config) error {
	if !c.Addr.IsUnspecified() {
		return nil
	}
	if !c.Peer.IsValid() {
		return fmt.Errorf("%w: address %v leaves this end's address open, and no peer is named", ctl.ErrInvalid, c.Addr)
	}
	find := func() (err error) {
		c.Addr, err = sourceFor(c.Peer)
		return err
	}
	var err error
	if ns == nil {
		err = find()
	} else {
		err = ns.Do(find)
	}
	if err != nil {
		return fmt.Errorf("find this end's address on the way to %v: %w%s", c.Peer, err, routeAdvice(err))
	}
	return nil
}

func routeAdvice(err error) string {
	if errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.EADDRNOTAVAIL) {
		return " (no route: does this host have an address of that family, and is the interface up?)"
	}
	return ""
}

// sourceFor asks the kernel which address it would send from: connecting a UDP
// socket looks the route up and sends nothing (udp(7)).
func sourceFor(peer netip.Addr) (netip.Addr, error) {
	peer = peer.Unmap()
	family := unix.AF_INET6
	if peer.Is4() {
		family = unix.AF_INET
	}
	fd, err := sys.Socket(family, unix.SOCK_DGRAM, 0)
	if err != nil {
		return netip.Addr{}, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	const discard = 9 // any port will do
	if peer.Is4() {
		err = unix.Connect(fd, &unix.SockaddrInet4{Port: discard, Addr: peer.As4()})
	} else {
		to := &unix.SockaddrInet6{Port: discard, Addr: peer.As16()}
		if to.ZoneId, err = zoneIndex(fd, peer.Zone()); err == nil {
			err = unix.Connect(fd, to)
		}
	}
	if err != nil {
		return netip.Addr{}, os.NewSyscallError("connect", err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.Addr{}, os.NewSyscallError("getsockname", err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(sa.Addr), nil
	case *unix.SockaddrInet6:
		a := netip.AddrFrom16(sa.Addr)
		if a.IsLinkLocalUnicast() {
			a = a.WithZone(peer.Zone())
		}
		return a, nil
	}
	return netip.Addr{}, fmt.Errorf("a socket address of type %T came back", sa)
}

// zoneIndex is the number of the interface that a zone names, by its name in
// the thread's namespace or by the number itself.
func zoneIndex(fd int, zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	return sys.InterfaceIndex(fd, zone)
}
