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
	CountSentAll        = "sent_all"         // sender: datagrams that the kernel took
	CountReceivedAll    = "received_all"     // receiver: datagrams that the program got
	CountSocketDropsAll = "socket_drops_all" // receiver: dropped at the socket
	CountDuplicatesAll  = "duplicates_all"   // receiver of a stream: datagrams that it had already
	CountReorderedAll   = "reordered_all"    // receiver of a stream: datagrams after a later one
)

// Balance says where the datagrams of a whole trial went in one direction,
// warm-up and what follows the window included:
//
//	Sent + Copies = Received + SocketDrops + Drops on the way - OtherDrops + Rest
//
// Nothing is under way any more: when a stream's sender has ended, the receiver
// reads until its socket has been quiet for a whole receive call; and the end
// that asks ends when all its requests are answered, or nothing has come for the
// length of their timeout.
type Balance struct {
	// From is the end that sent, and To the one that received: Local or Remote.
	From, To                    string
	Sent, Received, SocketDrops int64
	// Copies are those that a lab's wire made of the datagrams.
	Copies int64
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
	// Several says that what is in Drops is no number of datagrams: of
	// fragments, or of what can have had many datagrams in it.
	Several bool
}

// Drop is the drops of one counter: of a lab's link, or of a host as
// "remote.device.rx_missed", by end, source and name.
type Drop struct {
	Name    string
	Packets int64
}

// direction is one of the two ways of a path: its ends, and the counters of a
// lab's link, where host a is the local end. The sender's interface does not count as sent what it drops. What its wire
// drops, it had sent. A drop at the receiver's interface can be one of those
// again: a veth's backlog that is full counts at both interfaces, and a TAP
// counts the write that it refuses the wire. So that counter has only what the
// others leave.
type direction struct {
	from, to                            string
	sent, sendDrops, wire, receiveDrops string // wire and the cause
}

var (
	toRemote = direction{Local, Remote, "a.tx_packets", "a.tx_dropped", "wire.a_to_b.drop_", "b.rx_dropped"}
	toLocal  = direction{Remote, Local, "b.tx_packets", "b.tx_dropped", "wire.b_to_a.drop_", "a.rx_dropped"}
)

// Balances balances a trial of datagrams: one of a stream, or of its requests
// and its answers. There are none if the ends did not count the whole trial, or
// if a stream beside it passed the same counters.
func (t *Trial) Balances() []Balance {
	kind := t.Test.Kind()
	if kind.Protocol != spec.UDP || t.Remote == nil {
		return nil
	}
	switch kind.Pattern {
	case spec.Stream:
		if forth, ok := t.balance(toRemote); ok {
			return []Balance{forth}
		}
	case spec.RoundTrip:
		forth, ok := t.balance(toRemote)
		back, too := t.balance(toLocal)
		if ok && too && t.Test.Params.Load == "" {
			return []Balance{forth, back}
		}
	}
	return nil
}

// direction is the one that the balance is of.
func (b *Balance) direction() direction {
	if b.From == Local {
		return toRemote
	}
	return toLocal
}

// end is one of the trial's two; the remote one may be nil.
func (t *Trial) end(role string) *End {
	if role == Local {
		return &t.Local
	}
	return t.Remote
}

// balance balances one direction.
func (t *Trial) balance(d direction) (b Balance, ok bool) {
	sent, haveSent := t.end(d.from).Counts[CountSentAll]
	received, haveReceived := t.end(d.to).Counts[CountReceivedAll]
	if !haveSent || !haveReceived {
		return b, false
	}
	drops, haveDrops := t.end(d.to).Counts[CountSocketDropsAll]
	b = Balance{From: d.from, To: d.to, Sent: sent, Received: received, SocketDrops: drops}
	b.Copies = t.Path.Counts[strings.TrimSuffix(d.wire, "drop_")+"duplicated"]
	b.Rest = sent + b.Copies - received - drops
	frames, haveFrames := t.Path.Counts[d.sent]
	if !haveFrames {
		b.dropAtHosts(t, d, hostPlaces, haveDrops)
		b.Several = t.severalInOne(d, &b) != nil
		return b, true
	}
	for _, name := range slices.Sorted(maps.Keys(t.Path.Counts)) {
		if name == d.sendDrops || strings.HasPrefix(name, d.wire) {
			b.drop(name, t.Path.Counts[name])
		}
	}
	b.drop(d.receiveDrops, min(t.Path.Counts[d.receiveDrops], max(b.Rest, 0)))
	b.dropAtHosts(t, d, slices.DeleteFunc(slices.Clone(hostPlaces), func(p hostPlace) bool { return !ownQueue(p) }), haveDrops)

	frames += t.Path.Counts[d.sendDrops]
	b.Several = t.severalInOne(d, &b) != nil
	b.Exact = haveDrops && !b.Several
	if b.Exact {
		b.Others = max(frames-sent, 0)
		b.OtherDrops = min(b.Others, max(-b.Rest, 0))
		b.Rest += b.OtherDrops
		// The wire's copies of what was none of the test's came to nobody.
		others := min(b.Others, b.Copies, max(b.Rest, 0))
		b.Copies -= others
		b.Rest -= others
	}
	return b, true
}

// fragmented says that the datagrams went in several frames each: by what a
// lab's link counted, or by the MTU of the sender's interface.
func (t *Trial) fragmented(d direction) bool {
	if frames, lab := t.Path.Counts[d.sent]; lab {
		sent := t.end(d.from).Counts[CountSentAll]
		return sent > 0 && frames+t.Path.Counts[d.sendDrops] >= 2*sent
	}
	device := t.whole(d.from, SourceDevice)
	if device == nil || t.Test.Params.Send == "gso" {
		return false
	}
	headers := int64(spec.IPOverhead)
	if r := t.whole(d.from, SourceSNMP); r.rose("Ip6.OutRequests") > r.rose("Ip.OutRequests") {
		headers += ipv6Header - ipv4Header
	}
	mtu := device.Levels["mtu"]
	return mtu > 0 && int64(t.size(d))+headers > mtu
}

// size is the payload of a direction's datagrams.
func (t *Trial) size(d direction) int {
	switch {
	case t.Test.Kind().Pattern == spec.Stream:
		return t.Test.Params.Size
	case d.from == Local:
		return t.Test.RequestSize()
	}
	return t.Test.ResponseSize()
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
func (t *Trial) unaccountedFor() (all []Warning) {
	balances := t.Balances()
	for i := range balances {
		b := &balances[i]
		if !b.Exact || b.Rest == 0 {
			continue
		}
		of := "datagrams"
		switch {
		case len(balances) > 1 && b.From == Local:
			of = "requests"
		case len(balances) > 1:
			of = "answers"
		}
		text := fmt.Sprintf("%d of %d %s of the trial are missing, and no counter of the link or the socket has them", b.Rest, b.Sent, of)
		if b.Rest < 0 {
			text = fmt.Sprintf("the receiver and the counters of the link and the socket have %d more %s than the %d that were sent", -b.Rest, of, b.Sent)
		}
		all = append(all, Warning{Code: unaccounted, Text: text,
			Advice: "the loss has a place that is not watched, or something else used the link: compare the record's counts (show --format json)"})
	}
	return all
}
