package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// Thresholds of the guards about the way between the ends.
const (
	dropsFrom = 0.001 // of the packets that passed there
	// dropsLeast are more than a switch's own frames (spanning tree, LLDP) that a
	// host has no use for and counts as dropped.
	dropsLeast = 20
	// A run of the receive softirq takes in netdev_budget packets, 300 by
	// default (kernel, Documentation/admin-guide/sysctl/net.rst), and is
	// squeezed where more are waiting. That is worth telling where runs that
	// were squeezed took in most packets.
	squeezeBudget = 300
	squeezedFrom  = 0.5
	squeezedLeast = 10
	otherFrom     = 0.1 // of the bytes that the interface carried
	// mostHeaders is more than the headers of any packet of a test.
	mostHeaders = 120
)

var pathGuards = []guard{
	{GuardLinkFlap, "look at the cable, the switch and the kernel's log (dmesg), and measure again", flapped},
	{GuardOffloadChanged, "leave the interface alone while a run is under way, and measure again", offloadChanged},
	{GuardInterfaceErrors, "look at cable, module and switch port: frames were damaged (ethtool -S tells what was wrong)", interfaceErrors},
	{GuardInterfaceDrops, "give the interface longer rings (ethtool -G) if it has any, or hold the rate below this loss (rate=, pacing=)", interfaceDrops},
	{GuardQdiscDrops, "lengthen the queue (tc qdisc, txqueuelen), or hold the rate below its own (rate=, pacing=)", qdiscDrops},
	{GuardSoftnetDrops, "raise net.core.netdev_max_backlog, or spread the packets over more CPUs (RPS)", softnetDrops},
	{GuardSoftnetSqueezed, "raise net.core.netdev_budget and netdev_budget_usecs, or spread the packets over more CPUs (RSS, RPS)", softnetSqueezed},
	{GuardOtherTraffic, "keep other traffic off the interface while a run is under way", otherTraffic},
}

func flapped(_ *Trial, e *End) *finding {
	n := around(e, SourceDevice).rose("carrier_changes")
	if n == 0 {
		return nil
	}
	return found("the interface lost or found its carrier during the trial (changes: %s)", fmt.Sprint(n))
}

// offloadChanged tells of settings by their names; that the speed did is told,
// too.
func offloadChanged(_ *Trial, e *End) *finding {
	r := around(e, SourceDevice)
	if r == nil {
		return nil
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(r.Was)) {
		was, is, ok := r.stood(name)
		if !ok || was == is {
			continue
		}
		switch feature, is := strings.CutPrefix(name, "feature."); {
		case is:
			changed = append(changed, feature)
		case name == "mtu" || name == "txqueuelen":
			changed = append(changed, name)
		case name == "speed_bps":
			changed = append(changed, "speed")
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return found("the interface's settings changed during the trial: " + strings.Join(changed, ", "))
}

func interfaceErrors(_ *Trial, e *End) *finding {
	r := around(e, SourceDevice)
	n := r.rose("rx_errors") + r.rose("tx_errors") + r.rose("tx_carrier")
	if n == 0 {
		return nil
	}
	return found("the interface counted errors (frames: %s)", fmt.Sprint(n))
}

// floods says that the trial sends datagrams as fast as it can on one machine:
// then some queue on the way is always full, and the loss and its causes are
// figures.
func (t *Trial) floods() bool {
	k := t.Test.Kind()
	return k.Pattern == spec.Stream && k.Protocol == spec.UDP && !t.keptRate() && t.onOneMachine()
}

// dropped warns of drops that are some, and more than dropsFrom of what passed. The
// figure is a share, since the number is in the record.
func dropped(t *Trial, form string, drops, passed int64) *finding {
	if part := ratio(float64(drops), float64(drops+passed)); drops >= dropsLeast && part > dropsFrom && !t.floods() {
		return found(form, inPercent(part))
	}
	return nil
}

// interfaceDrops leaves out what the kernel's backlog had no room for, which has
// a guard of its own and counts at the interface too, and takes the larger of two
// counters that many drivers have the same in (hostPlaces).
func interfaceDrops(t *Trial, e *End) *finding {
	r := around(e, SourceDevice)
	drops := max(0, r.rose("rx_dropped")-around(e, SourceSoftnet).rose("dropped")) + max(r.rose("rx_missed"), r.rose("rx_fifo"))
	if f := dropped(t, "the interface dropped %s of the packets that came in", drops, r.rose("rx_packets")); f != nil {
		return f
	}
	return dropped(t, "the interface dropped %s of the packets that were to go out", r.rose("tx_dropped"), r.rose("tx_packets"))
}

func qdiscDrops(t *Trial, e *End) *finding {
	r := around(e, SourceQdisc)
	return dropped(t, "the interface's queueing discipline dropped %s of its packets", r.rose("drops"), r.rose("packets"))
}

func softnetDrops(t *Trial, e *End) *finding {
	r := around(e, SourceSoftnet)
	return dropped(t, "the kernel's backlog queue dropped %s of the packets that came in", r.rose("dropped"), r.rose("processed"))
}

func softnetSqueezed(_ *Trial, e *End) *finding {
	r := e.Counters.Reading(SourceSoftnet)
	squeezed, processed := r.rose("squeezed"), r.rose("processed")
	if squeezed < squeezedLeast || float64(squeezed)*squeezeBudget < squeezedFrom*float64(processed) {
		return nil
	}
	return found("the receive softirq used up its budget before its queue was empty (times: %s)", fmt.Sprint(squeezed))
}

// otherTraffic compares what the interface carried with what the ends know of:
// the larger of what was sent and received, with headers and a tenth more. It
// says nothing of round trips, of which a tenth is next to nothing.
func otherTraffic(t *Trial, e *End) *finding {
	r := e.Counters.Reading(SourceDevice)
	if r == nil || r.Elapsed <= 0 || !t.Test.Kind().IsStream() {
		return nil
	}
	own := 0.0 // bytes per second
	for _, end := range []*End{&t.Local, t.Remote} {
		if end == nil || end.Elapsed <= 0 {
			continue
		}
		if t.Window > 0 && end.Elapsed > t.Window+t.Window/4 {
			return nil // it stalled, and its mean rate is not that of the reading
		}
		own = max(own, ratio(float64(end.Bytes), end.Elapsed.Seconds()))
		if n, there := end.Counts[CountReceivedBytes]; there {
			own = max(own, ratio(float64(n), float64(end.Counts[CountReceivedElapsed])/1e9))
		}
	}
	for _, way := range []string{"rx", "tx"} {
		carried := ratio(float64(r.rose(way+"_bytes")), r.Elapsed.Seconds())
		headers := mostHeaders * ratio(float64(r.rose(way+"_packets")), r.Elapsed.Seconds())
		if other := carried - headers - 1.1*own; carried > 0 && other > otherFrom*carried {
			return found("the interface carried other traffic beside the test's, %s of all or more", inPercent(other/carried))
		}
	}
	return nil
}
