package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Attributes of linux/rtnetlink.h and linux/gen_stats.h, and the parents of
// linux/pkt_sched.h that are no qdisc's.
const (
	tcaKind       = 1
	tcaStats2     = 7
	statsBasic    = 1
	statsQueue    = 3
	statsPackets  = 8 // TCA_STATS_PKT64
	parentRoot    = 0xffffffff
	parentIngress = 0xfffffff1
)

// adders are the qdiscs whose counts the kernel makes of those of the qdiscs
// below them, all of them, when it is asked (mq_dump and mqprio_dump of
// net/sched). Others count what happens to themselves, and of what is below them
// the drops, the length and the packets.
var adders = map[string]bool{"mq": true, "mqprio": true}

// qdiscSource is the queueing disciplines of the path's interface. A packet that
// one drops below another is counted by both, and one that passes too, so that
// those at the top alone are told: the root, and what stands before reception
// (ingress or clsact). Counts are bytes, packets and requeues of the root,
// overlimits of each qdisc for itself, drops of all of these, and
// ingress_drops, ingress_bytes and ingress_packets of what stands before
// reception (clsact's are of both directions); levels backlog_bytes and qlen
// (packets) of the root. An interface without a queue has zeros.
type qdiscSource struct {
	routes *routes
	name   string
	index  int
	counts map[qdiscKey]*[qdiscCounts]widened
}

// qdiscKey tells one qdisc from others of the same interface: those that the
// kernel makes by itself all have handle 0.
type qdiscKey struct {
	kind           string
	handle, parent uint32
}

// What struct gnet_stats_queue has in 32 bits, and the packets of struct
// gnet_stats_basic.
const (
	qdiscDrops = iota
	qdiscRequeues
	qdiscOverlimits
	qdiscPackets
	qdiscCounts
)

func openQdisc(o *Options) (source, error) {
	name, index, r, err := o.openInterface()
	if err != nil {
		return nil, err
	}
	s := &qdiscSource{routes: r, name: name, index: index, counts: map[qdiscKey]*[qdiscCounts]widened{}}
	if _, err := s.take(); err != nil {
		return nil, reason(errors.Join(err, s.close()))
	}
	return s, nil
}

// tcMessage is struct tcmsg of linux/rtnetlink.h.
type tcMessage struct{ index int }

const (
	tcMessageBytes = 20
	tcIndexAt      = 4
	tcHandleAt     = 8
	tcParentAt     = 12
)

func (m *tcMessage) Len() int { return tcMessageBytes }

func (m *tcMessage) Serialize() []byte {
	b := make([]byte, tcMessageBytes)
	binary.NativeEndian.PutUint32(b[tcIndexAt:], uint32(m.index))
	return b
}

func (s *qdiscSource) take() (*sample, error) {
	answers, err := s.routes.ask(unix.RTM_GETQDISC, unix.RTM_NEWQDISC, unix.NLM_F_DUMP, &tcMessage{s.index})
	if err != nil {
		return nil, fmt.Errorf("read the qdiscs of %s (RTM_GETQDISC): %w", s.name, err)
	}
	x := newSample()
	for _, n := range []string{"drops", "overlimits", "requeues", "bytes", "packets"} {
		x.counts[n] = 0
	}
	root := false
	for _, a := range answers {
		// The kernel tells of all interfaces.
		if len(a) < tcMessageBytes || int(binary.NativeEndian.Uint32(a[tcIndexAt:])) != s.index {
			continue
		}
		is, err := s.add(a, x)
		if err != nil {
			return nil, fmt.Errorf("read the qdiscs of %s (RTM_GETQDISC): %w", s.name, err)
		}
		root = root || is
	}
	if !root {
		return nil, fmt.Errorf("interface %s has no qdisc, or is no longer in this network namespace", s.name)
	}
	return x, nil
}

// add adds one qdisc and says whether it is the root.
func (s *qdiscSource) add(answer []byte, x *sample) (root bool, err error) {
	attrs, err := attributes(answer, tcMessageBytes)
	if err != nil {
		return false, err
	}
	key := qdiscKey{
		handle: binary.NativeEndian.Uint32(answer[tcHandleAt:]),
		parent: binary.NativeEndian.Uint32(answer[tcParentAt:]),
	}
	var stats []syscall.NetlinkRouteAttr
	for i := range attrs {
		switch attribute(&attrs[i]) {
		case tcaKind:
			key.kind = unix.ByteSliceToString(attrs[i].Value)
		case tcaStats2:
			if stats, err = nl.ParseRouteAttr(attrs[i].Value); err != nil {
				return false, err
			}
		}
	}
	q := s.read(key, stats)
	if !adders[key.kind] {
		x.counts["overlimits"] += q.overlimits
	}
	switch key.parent {
	case parentRoot:
		root = true
		x.counts["bytes"] += q.bytes
		x.counts["packets"] += q.packets
		x.counts["requeues"] += q.requeues
		x.counts["drops"] += q.drops
		x.levels["backlog_bytes"], x.levels["qlen"] = q.backlog, q.length
	case parentIngress:
		x.counts["drops"] += q.drops
		x.counts["ingress_drops"] += q.drops
		x.counts["ingress_bytes"] += q.bytes
		x.counts["ingress_packets"] += q.packets
	}
	return root, nil
}

// qdiscStats are what one qdisc tells of itself.
type qdiscStats struct {
	bytes, packets, drops, requeues, overlimits int64
	backlog, length                             int64
}

func (s *qdiscSource) read(key qdiscKey, stats []syscall.NetlinkRouteAttr) (q qdiscStats) {
	known := s.counts[key]
	if known == nil {
		known = new([qdiscCounts]widened)
		s.counts[key] = known
	}
	wide := false
	for i := range stats {
		v := stats[i].Value
		number := func(at int) uint32 { return binary.NativeEndian.Uint32(v[at:]) }
		switch n := attribute(&stats[i]); {
		case n == statsBasic && len(v) >= 12:
			q.bytes = int64(binary.NativeEndian.Uint64(v))
			if p := known[qdiscPackets].at(number(8)); !wide {
				q.packets = p
			}
		case n == statsPackets && len(v) >= 8:
			q.packets, wide = int64(binary.NativeEndian.Uint64(v)), true
		case n == statsQueue && len(v) >= 20:
			q.length, q.backlog = int64(number(0)), int64(number(4))
			q.drops = known[qdiscDrops].at(number(8))
			q.requeues = known[qdiscRequeues].at(number(12))
			q.overlimits = known[qdiscOverlimits].at(number(16))
		}
	}
	return q
}

func (s *qdiscSource) close() error { return s.routes.close() }
