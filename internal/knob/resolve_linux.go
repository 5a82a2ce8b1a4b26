package knob

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"netdelta/internal/spec"
)

// resolve finds what a setting of the request is about, and opens it. turn tells
// commands of one restore apart.
func (h *Holder) resolve(r Request, s spec.Setting, turn int) (target, error) {
	row, _, err := s.Row()
	if err != nil {
		return target{}, err
	}
	t := target{setting: s, scope: row.Scope}
	t.place = Place{NS: h.cfg.NS, End: r.End, Peer: r.Peer, Level: s.Value, turn: turn, root: h.root}
	switch row.Scope {
	case spec.OnDevice:
		if t.place.Device, t.ifindex, err = t.place.device(s.Device, r.Addr); err != nil {
			return target{}, fmt.Errorf("%s: %w", s, err)
		}
	case spec.OnCommand:
		if !h.cfg.Commands {
			return target{}, fmt.Errorf("%s: commands are not allowed here", s)
		}
		// Where no interface is found the command has to do without its name.
		t.place.Device, _, _ = t.place.device(s.Device, r.Addr)
	case spec.OnHost:
	default:
		return target{}, fmt.Errorf("%s is no setting of a host", s)
	}
	if t.ctl, err = open(t.place, s); err != nil {
		return target{}, fmt.Errorf("%s: %w", s, err)
	}
	t.id = fullID(t.ctl, h.ns)
	return t, nil
}

// device finds the interface of that name, or where it is empty that which the
// path takes at this end: the one that has the address, or without an address
// the one through which the peer is reached.
func (p Place) device(name string, addr netip.Addr) (found string, index int, err error) {
	err = p.netlink(func(nl *netlink.Handle) error {
		all, err := nl.LinkList()
		if err != nil {
			return fmt.Errorf("list the interfaces: %w", err)
		}
		if name == "" {
			if index, err = p.pathIndex(nl, addr.Unmap().WithZone("")); err != nil {
				return err
			}
		}
		for _, l := range all {
			if a := l.Attrs(); a.Name == name || name == "" && a.Index == index {
				found, index = a.Name, a.Index
				return nil
			}
		}
		return fmt.Errorf("no interface %s here: there are %s", name, strings.Join(namesOf(all), ", "))
	})
	return found, index, err
}

func namesOf(links []netlink.Link) []string {
	names := make([]string, len(links))
	for i, l := range links {
		names[i] = l.Attrs().Name
	}
	slices.Sort(names)
	return names
}

func (p Place) pathIndex(nl *netlink.Handle, addr netip.Addr) (int, error) {
	advice := "name the interface before the knob, as in eth0.gro"
	if addr.IsValid() && !addr.IsUnspecified() {
		addrs, err := nl.AddrList(nil, netlink.FAMILY_ALL)
		if err != nil {
			return 0, fmt.Errorf("list the addresses: %w", err)
		}
		for _, a := range addrs {
			if have, ok := netip.AddrFromSlice(a.IP); ok && have.Unmap() == addr {
				return a.LinkIndex, nil
			}
		}
		return 0, fmt.Errorf("no interface here has the path's address %s: %s", addr, advice)
	}
	if !p.Peer.IsValid() {
		return 0, fmt.Errorf("which interface the path takes is not known without addresses: %s", advice)
	}
	routes, err := nl.RouteGet(p.Peer.Unmap().WithZone("").AsSlice())
	if err == nil && len(routes) == 0 {
		err = errors.New("no route")
	}
	if err != nil {
		return 0, fmt.Errorf("find the interface through which %s is reached: %w: %s", p.Peer, err, advice)
	}
	return routes[0].LinkIndex, nil
}
