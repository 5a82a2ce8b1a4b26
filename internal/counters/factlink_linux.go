package counters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
)

// linkFacts are what the kernel has of the interface: its queues of packets to
// send, what it is part of and what it stands on (rtnetlink(7)).
func linkFacts(device string) []Fact {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return nil
	}
	a := link.Attrs()
	facts := []Fact{
		{Name: "kind", Value: kindOf(link)},
		{Name: "member of", Value: masterOf(a)},
		{Name: "qdisc", Value: qdiscs(link)},
		{Name: "queue length", Value: strconv.Itoa(a.TxQLen)},
		{Name: "xdp", Value: xdp(a.Xdp)},
	}
	if a.TxQLen < 0 {
		facts[3].Value = ""
	}
	return valued(facts...)
}

// kindOf says what a virtual interface is, and upon which other one it stands.
func kindOf(link netlink.Link) string {
	kind, a := link.Type(), link.Attrs()
	if kind == "device" {
		return ""
	}
	switch l := link.(type) {
	case *netlink.Vlan:
		kind = fmt.Sprintf("vlan %d", l.VlanId)
	case *netlink.Bond:
		kind = "bond " + l.Mode.String()
	case *netlink.Veth:
		return kind // its other end may be in another namespace
	}
	// The number is of another namespace where the link says which.
	if a.ParentIndex != 0 && a.ParentIndex != a.Index && a.NetNsID < 0 {
		if parent, err := netlink.LinkByIndex(a.ParentIndex); err == nil {
			kind += " on " + parent.Attrs().Name
		}
	}
	return kind
}

// masterOf is the bridge, bond, team or vrf that an interface is a member of.
func masterOf(a *netlink.LinkAttrs) string {
	if a.MasterIndex == 0 {
		return ""
	}
	master, err := netlink.LinkByIndex(a.MasterIndex)
	if err != nil {
		return ""
	}
	return master.Type() + " " + master.Attrs().Name
}

// qdiscs counts the interface's queueing disciplines by kind, in their order,
// as in "mq, 4 fq_codel".
func qdiscs(link netlink.Link) string {
	all, err := netlink.QdiscList(link)
	if err != nil {
		return ""
	}
	var order []string
	count := map[string]int{}
	for _, q := range all {
		kind := q.Type()
		if count[kind]++; count[kind] == 1 {
			order = append(order, kind)
		}
	}
	for i, kind := range order {
		if count[kind] > 1 {
			order[i] = fmt.Sprintf("%d %s", count[kind], kind)
		}
	}
	return strings.Join(slices.Compact(order), ", ")
}

// xdpModes are where a program is attached (linux/if_link.h).
var xdpModes = map[uint32]string{1: "in the driver", 2: "generic", 3: "in the hardware", 4: "several"}

func xdp(x *netlink.LinkXdp) string {
	if x == nil || !x.Attached {
		return ""
	}
	if mode := xdpModes[x.AttachMode]; mode != "" {
		return "a program, " + mode
	}
	return "a program"
}
