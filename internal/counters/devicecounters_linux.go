package counters

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// deviceCounts are the counts that are told, by their place in struct
// rtnl_link_stats64 of linux/if_link.h. The kernel adds what the stack dropped
// to what the driver did.
var deviceCounts = []struct {
	name string
	at   int
}{
	{"rx_packets", 0}, {"tx_packets", 1}, {"rx_bytes", 2}, {"tx_bytes", 3},
	{"rx_errors", 4}, {"tx_errors", 5}, {"rx_dropped", 6}, {"tx_dropped", 7},
	{"multicast", 8}, {"collisions", 9}, {"rx_fifo", 14}, {"rx_missed", 15},
	{"tx_carrier", 17}, {"rx_nohandler", 23},
}

// deviceFeatures are the switches that are told.
var deviceFeatures = []struct {
	name string
	get  func(device string) (bool, error)
}{
	{"rx-checksum", ethtoolFlag(sys.RxChecksum)}, {"tx-checksum", ethtoolFlag(sys.TxChecksum)}, {"sg", ethtoolFlag(sys.SG)},
	{"tso", ethtoolFlag(sys.TSO)}, {"gso", ethtoolFlag(sys.GSO)}, {"gro", ethtoolFlag(sys.GRO)}, {"lro", sys.GetLRO},
}

func ethtoolFlag(f sys.EthtoolFlag) func(string) (bool, error) {
	return func(device string) (bool, error) { return sys.GetEthtoolFlag(device, f) }
}

// madeUp are drivers of interfaces that have no speed and name one all the
// same: 10 Gbit/s of a veth that carries 20.
var madeUp = map[string]bool{"veth": true, "tun": true}

// iflaCarrierChanges is IFLA_CARRIER_CHANGES of linux/if_link.h.
const iflaCarrierChanges = 35

// deviceSource is the interface of the path. Counts are rx_packets and so on
// (deviceCounts) and carrier_changes, how often the link went or came; levels up
// (0 or 1: whether it can carry anything), mtu (bytes), txqueuelen (packets),
// speed_bps (bit/s, absent where there is none or the driver does not know it)
// and feature.gro and so on (deviceFeatures, 0 or 1, absent where the driver
// knows no such thing).
type deviceSource struct {
	routes  *routes
	name    string
	index   int
	speed   int64 // bit/s; 0 if it is not known
	changes int64 // of the carrier, when the speed was read
	carrier widened
}

func openDevice(o *Options) (source, error) {
	name, index, r, err := o.openInterface()
	if err != nil {
		return nil, err
	}
	s := &deviceSource{routes: r, name: name, index: index, changes: -1}
	if _, err := s.take(); err != nil {
		return nil, reason(errors.Join(err, s.close()))
	}
	return s, nil
}

func (s *deviceSource) take() (*sample, error) {
	body := nl.NewIfInfomsg(unix.AF_UNSPEC)
	body.Index = int32(s.index)
	answers, err := s.routes.ask(unix.RTM_GETLINK, unix.RTM_NEWLINK, 0, body)
	switch {
	case errors.Is(err, unix.ENODEV):
		return nil, fmt.Errorf("interface %s is no longer in this network namespace", s.name)
	case err == nil && len(answers) != 1:
		err = fmt.Errorf("%d answers came", len(answers))
		fallthrough
	case err != nil:
		return nil, fmt.Errorf("read interface %s (RTM_GETLINK): %w", s.name, err)
	}
	x := newSample()
	if err := s.parse(answers[0], x); err != nil {
		return nil, fmt.Errorf("read interface %s (RTM_GETLINK): %w", s.name, err)
	}
	// A speed is agreed on when a link comes up. Some drivers ask their card for
	// it, which takes long.
	if c := x.counts["carrier_changes"]; c != s.changes {
		s.changes, s.speed = c, speedOf(s.name)
	}
	if s.speed > 0 {
		x.levels["speed_bps"] = s.speed
	}
	for _, f := range deviceFeatures {
		if on, err := f.get(s.name); err == nil {
			x.levels["feature."+f.name] = truth(on)
		}
	}
	return x, nil
}

func (s *deviceSource) parse(answer []byte, x *sample) error {
	attrs, err := attributes(answer, unix.SizeofIfInfomsg)
	if err != nil {
		return err
	}
	const flagsAt = 8 // of struct ifinfomsg
	flags := binary.NativeEndian.Uint32(answer[flagsAt:])
	x.levels["up"] = truth(flags&unix.IFF_UP != 0 && flags&unix.IFF_RUNNING != 0)
	for i := range attrs {
		a := &attrs[i]
		switch number := attribute(a); {
		case number == unix.IFLA_STATS64:
			for _, c := range deviceCounts {
				if at := 8 * c.at; at+8 <= len(a.Value) {
					x.counts[c.name] = int64(binary.NativeEndian.Uint64(a.Value[at:]))
				}
			}
		case len(a.Value) != 4:
		case number == unix.IFLA_MTU:
			x.levels["mtu"] = int64(binary.NativeEndian.Uint32(a.Value))
		case number == unix.IFLA_TXQLEN:
			x.levels["txqueuelen"] = int64(binary.NativeEndian.Uint32(a.Value))
		case number == iflaCarrierChanges:
			x.counts["carrier_changes"] = s.carrier.at(binary.NativeEndian.Uint32(a.Value))
		}
	}
	if _, there := x.counts["rx_packets"]; !there {
		return fmt.Errorf("the kernel tells no counters (IFLA_STATS64)")
	}
	return nil
}

// speedOf is an interface's speed in bit/s, 0 if it is not known.
func speedOf(device string) int64 {
	if madeUp[driverOf(device)] {
		return 0
	}
	n, err := sys.LinkSpeed(device)
	if err != nil {
		return 0
	}
	return n
}

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func (s *deviceSource) close() error { return s.routes.close() }
