package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// Names of the counts of a whole trial that Balance takes.
const (
	CountSentAll        = "sent_all"         // local: datagrams that the kernel took
	CountReceivedAll    = "received_all"     // remote: datagrams that the program got
	CountSocketDropsAll = "socket_drops_all" // remote: dropped at the socket
)

// Balance says where the datagrams of a whole trial went, warm-up and what
// follows the window included:
//
//	Sent = Received + SocketDrops + Drops on the way - OtherDrops + Rest
//
// Nothing is under way any more: when the sender has ended, the receiver reads
// until its socket has been quiet for a whole receive call.
type Balance struct {
	Sent, Received, SocketDrops int64
	// Drops are those of the counters on the way that have any, each packet
	// in one of them.
	Drops []Drop
	// OtherDrops is how many of the drops were packets that were none of the
	// test's (a neighbour solicitation, say): a counter does not tell them
	// apart. Others is how many such packets the sending host had, dropped or
	// not. As many datagrams, at most, could be missing and not show in Rest.
	OtherDrops, Others int64
	// Rest is what no counter has; below 0 if they have more than was sent.
	Rest int64
	// Exact says that every counter is known and counts datagrams. If it is
	// not, Rest is only what is left: the path is not a lab's, and the counters
	// are those of hosts that may have had other traffic, the kernel does
	// not tell of drops at sockets, the datagrams went in fragments, which the
	// counters of a link count one by one, or something dropped what had many
	// of them in it and was counted once (methods gso and gro).
	Exact bool
}

// Drop is the drops of one counter: of a lab's link, or of a host as
// "remote.device.rx_missed", by end, source and name.
type Drop struct {
	Name    string
	Packets int64
}

// Counters of a lab's link from the local end, host a, to the remote one.
// The sender's interface does not count as sent what it drops. What its wire
// drops, it had sent. A drop at the receiver's interface can be one of those
// again: a veth's backlog that is full counts at both interfaces, and a TAP
// counts the write that it refuses the wire. So that counter has only what the
// others leave.
const (
	pathSent         = "a.tx_packets"
	pathSendDrops    = "a.tx_dropped"
	pathWireDrops    = "wire.a_to_b.drop_" // and the cause
	pathReceiveDrops = "b.rx_dropped"
)

// Balance balances a trial of datagrams in one direction. It says false if the
// ends did not count the whole trial.
func (t *Trial) Balance() (b Balance, ok bool) {
	kind := t.Test.Kind()
	if kind.Pattern != spec.Stream || kind.Protocol != spec.UDP || t.Remote == nil {
		return b, false
	}
	sent, haveSent := t.Local.Counts[CountSentAll]
	received, haveReceived := t.Remote.Counts[CountReceivedAll]
	if !haveSent || !haveReceived {
		return b, false
	}
	drops, haveDrops := t.Remote.Counts[CountSocketDropsAll]
	b = Balance{Sent: sent, Received: received, SocketDrops: drops}
	b.Rest = sent - received - drops
	frames, haveFrames := t.Path.Counts[pathSent]
	if !haveFrames {
		b.dropAtHosts(t, hostPlaces, haveDrops)
		return b, true
	}
	for _, name := range slices.Sorted(maps.Keys(t.Path.Counts)) {
		if name == pathSendDrops || strings.HasPrefix(name, pathWireDrops) {
			b.drop(name, t.Path.Counts[name])
		}
	}
	b.drop(pathReceiveDrops, min(t.Path.Counts[pathReceiveDrops], max(b.Rest, 0)))
	b.dropAtHosts(t, slices.DeleteFunc(slices.Clone(hostPlaces), func(p hostPlace) bool { return !ownQueue(p) }), haveDrops)

	frames += t.Path.Counts[pathSendDrops]
	b.Exact = haveDrops && !t.fragmented() && !t.droppedAtOnce(&b)
	if b.Exact {
		b.Others = max(frames-sent, 0)
		b.OtherDrops = min(b.Others, max(-b.Rest, 0))
		b.Rest += b.OtherDrops
	}
	return b, true
}

// fragmented says that the datagrams went in several frames each: by what a
// lab's link counted, or by the MTU of the sender's interface.
func (t *Trial) fragmented() bool {
	if frames, lab := t.Path.Counts[pathSent]; lab {
		sent := t.Local.Counts[CountSentAll]
		return sent > 0 && frames+t.Path.Counts[pathSendDrops] >= 2*sent
	}
	device := t.whole(Local, SourceDevice)
	if device == nil || t.Test.Params.Send == "gso" {
		return false
	}
	mtu := device.Levels["mtu"]
	return mtu > 0 && int64(t.Test.Params.Size)+spec.IPOverhead > mtu
}

// droppedAtOnce says that a counter may have counted many datagrams as one.
// With UDP_SEGMENT the sender's kernel cuts them apart as late as it can, so
// that a link passes on, and drops, many as one; with UDP_GRO the receiver's
// kernel puts them together, and drops many as one before the socket, too. A
// socket without UDP_GRO is given, and drops, each for itself.
func (t *Trial) droppedAtOnce(b *Balance) bool {
	gso, gro := t.Test.Params.Send == "gso", t.Test.Params.Recv == "gro"
	return (gso || gro) && len(b.Drops) > 0 || gro && b.SocketDrops > 0
}

// drop takes a counter's drops off the rest.
func (b *Balance) drop(name string, n int64) {
	if n != 0 {
		b.Drops = append(b.Drops, Drop{name, n})
		b.Rest -= n
	}
}

// unaccounted is the code of the warning that a balance does not close.
const unaccounted = "unaccounted"

// unaccountedFor warns if datagrams are missing that no counter has, or the
// counters have more than was sent.
func (t *Trial) unaccountedFor() []Warning {
	b, ok := t.Balance()
	if !ok || !b.Exact || b.Rest == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d datagrams of the trial are missing, and no counter of the link or the socket has them", b.Rest, b.Sent)
	if b.Rest < 0 {
		text = fmt.Sprintf("the receiver and the counters of the link and the socket have %d more datagrams than the %d that were sent", -b.Rest, b.Sent)
	}
	return []Warning{{Code: unaccounted, Text: text,
		Advice: "the loss has a place that is not watched, or something else used the link: compare the record's counts (show --format json)"}}
}
