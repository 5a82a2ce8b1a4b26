package result

import (
	"fmt"
	"strings"
)

// hostPlace is a counter of one of the two hosts that has datagrams which went
// missing: a row of the table of places.
type hostPlace struct {
	end, source, name string // end is Local for the sender's, Remote for the receiver's
	cause             string
	// within are counters of the same host, as "source.name", that have part of
	// what this one has: that is not counted again.
	within []string
	// socket says that what the test's own socket dropped is in it, so that it
	// tells nothing where the socket does.
	socket bool
}

// hostPlaces are in the order of the way. Counters of a host are of all that
// it did meanwhile, whosever it was, so that each has no more than what the
// others leave. Which are part of which is Linux's doing: IP counts as
// discarded on the way out what the queueing discipline drops, or an interface
// without one (ip_send_skb, net/ipv4/ip_output.c), a full backlog counts at the interface, too
// (enqueue_to_backlog, net/core/dev.c), and a driver's errors can have in them
// what was missed for want of buffers (rtnl_link_stats64,
// include/uapi/linux/if_link.h).
var hostPlaces = []hostPlace{
	{Local, SourceSNMP, "Ip.OutDiscards", LossStack, []string{"qdisc.drops", "device.tx_dropped"}, false},
	{Local, SourceSNMP, "Ip.OutNoRoutes", LossStack, nil, false},
	{Local, SourceSNMP, "Ip6.OutDiscards", LossStack, []string{"qdisc.drops", "device.tx_dropped"}, false},
	{Local, SourceSNMP, "Ip6.OutNoRoutes", LossStack, nil, false},
	{Local, SourceQdisc, "drops", LossQdisc, nil, false},
	{Local, SourceDevice, "tx_dropped", LossInterface, nil, false},
	{Local, SourceDevice, "tx_errors", LossInterface, nil, false},
	{Remote, SourceDevice, "rx_missed", LossInterface, nil, false},
	{Remote, SourceDevice, "rx_fifo", LossInterface, []string{"device.rx_missed"}, false},
	{Remote, SourceDevice, "rx_errors", LossInterface, []string{"device.rx_missed", "device.rx_fifo"}, false},
	{Remote, SourceDevice, "rx_dropped", LossInterface, []string{"softnet.dropped"}, false},
	{Remote, SourceSoftnet, "dropped", LossSoftnet, nil, false},
	{Remote, SourceSNMP, "Ip.InHdrErrors", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip.InAddrErrors", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip.InDiscards", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip.ReasmFails", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip6.InHdrErrors", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip6.InAddrErrors", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip6.InDiscards", LossStack, nil, false},
	{Remote, SourceSNMP, "Ip6.ReasmFails", LossStack, nil, false},
	{Remote, SourceSNMP, "Udp.NoPorts", LossStack, nil, false},
	{Remote, SourceSNMP, "Udp.InCsumErrors", LossStack, nil, true},
	{Remote, SourceSNMP, "Udp.MemErrors", LossStack, nil, true},
	{Remote, SourceSNMP, "Udp.RcvbufErrors", LossSocket, nil, true},
	{Remote, SourceSNMP, "Udp6.NoPorts", LossStack, nil, false},
	{Remote, SourceSNMP, "Udp6.InCsumErrors", LossStack, nil, true},
	{Remote, SourceSNMP, "Udp6.MemErrors", LossStack, nil, true},
	{Remote, SourceSNMP, "Udp6.RcvbufErrors", LossSocket, nil, true},
}

// whole is what the end's host counted around the whole trial, nil for nothing.
func (t *Trial) whole(end, source string) *Reading {
	if e := t.end(end); e != nil {
		return e.Counters.WholeReading(source)
	}
	return nil
}

// dropAtHosts takes off what the two hosts counted, each counter with no more
// than what the others leave.
func (b *Balance) dropAtHosts(t *Trial, d direction, places []hostPlace, socketTells bool) {
	for _, p := range places {
		end := d.from
		if p.end == Remote {
			end = d.to
		}
		r := t.whole(end, p.source)
		if r == nil || p.socket && socketTells {
			continue
		}
		n := r.Counts[p.name]
		for _, part := range p.within {
			source, name, _ := strings.Cut(part, ".")
			if inner := t.whole(end, source); inner != nil {
				n -= inner.Counts[name]
			}
		}
		b.drop(fmt.Sprintf("%s.%s.%s", end, p.source, p.name), min(max(n, 0), max(b.Rest, 0)))
	}
}

// ownQueue is the one counter of a host that a lab's link leaves out: the
// queueing discipline before it drops what the interface never had.
func ownQueue(p hostPlace) bool { return p.source == SourceQdisc }

// Cause says of which metric of loss by cause the counter's drops are.
func (d Drop) Cause() string {
	if strings.HasPrefix(d.Name, "wire.") {
		return LossWire
	}
	_, name, _ := strings.Cut(d.Name, ".") // no name is one of both ends of the way
	for _, p := range hostPlaces {
		if name == p.source+"."+p.name {
			return p.cause
		}
	}
	return LossInterface
}

// watched says why the loss of one cause is not known: nobody looked there.
func (t *Trial) watched(cause string) *Warning {
	_, lab := t.Path.Counts[toRemote.sent]
	seen := false
	switch cause {
	case LossSocket:
		_, socket := t.Remote.Counts[CountSocketDropsAll]
		seen = socket || !lab && t.whole(Remote, SourceSNMP) != nil
	case LossInterface:
		seen = lab || t.whole(Local, SourceDevice) != nil && t.whole(Remote, SourceDevice) != nil
	case LossSoftnet:
		seen = !lab && t.whole(Remote, SourceSoftnet) != nil
	case LossQdisc:
		seen = t.whole(Local, SourceQdisc) != nil
	case LossStack:
		seen = !lab && t.whole(Local, SourceSNMP) != nil && t.whole(Remote, SourceSNMP) != nil
	case LossWire:
		for name := range t.Path.Counts {
			seen = seen || strings.HasPrefix(name, "wire.")
		}
	}
	if seen {
		return nil
	}
	return &Warning{Code: NotAsked, Text: "nobody counted what is lost to " + strings.TrimPrefix(cause, "loss_")}
}
