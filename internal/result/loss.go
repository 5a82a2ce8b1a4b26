package result

import (
	"fmt"

	"netdelta/internal/unit"
)

// Metric names of loss by cause: shares of all datagrams of a trial.
const (
	// LossSocket is what did not fit into the receiver's socket.
	LossSocket = "loss_socket"
	// LossInterface is what the two ends' interfaces dropped.
	LossInterface = "loss_interface"
	// LossSoftnet is what the receiver's backlog between interface and protocol
	// had no room for.
	LossSoftnet = "loss_softnet"
	// LossQdisc is what the sender's queueing discipline dropped.
	LossQdisc = "loss_qdisc"
	// LossStack is what IP or UDP discarded at either end.
	LossStack = "loss_stack"
	// LossWire is what the wire of a lab dropped.
	LossWire = "loss_wire"
)

// losses is the table of where datagrams went.
var losses = []Definition{
	{Unaccounted, Remote, unit.Share, Lower, Difference, NonZero,
		"datagrams of the whole trial that neither the receiver nor any counter has", forth, onlyUDP, nil, wholeTrial, unaccountedShare, optional},
	{Unaccounted, Local, unit.Share, Lower, Difference, NonZero,
		"requests and answers of the whole trial that neither end nor any counter has, of those sent", answered, onlyUDP, nil, wholeTrial, unaccountedShare, optional},
	{LossSocket, Remote, unit.Share, Lower, Difference, Detail,
		"datagrams of the whole trial that the receiver's socket had no room for", forth, onlyUDP, nil, wholeTrial, lostTo(LossSocket), optional},
	{LossInterface, Remote, unit.Share, Lower, Difference, Detail,
		"datagrams of the whole trial that an interface dropped", forth, onlyUDP, nil, wholeTrial, lostTo(LossInterface), optional},
	{LossSoftnet, Remote, unit.Share, Lower, Difference, Detail,
		"datagrams of the whole trial that the receiver's backlog had no room for", forth, onlyUDP, nil, wholeTrial, lostTo(LossSoftnet), optional},
	{LossQdisc, Remote, unit.Share, Lower, Difference, Detail,
		"datagrams of the whole trial that the sender's queueing discipline dropped", forth, onlyUDP, nil, wholeTrial, lostTo(LossQdisc), optional},
	{LossStack, Remote, unit.Share, Lower, Difference, Detail,
		"datagrams of the whole trial that IP or UDP discarded", forth, onlyUDP, nil, wholeTrial, lostTo(LossStack), optional},
	{LossWire, Remote, unit.Share, Lower, Difference, Detail,
		"datagrams of the whole trial that the lab's wire dropped", forth, onlyUDP, nil, wholeTrial, lostTo(LossWire), optional},
}

// wholeTrial is the end in whose window a count of the whole trial is: none.
func wholeTrial(*Trial) *End { return nil }

// unaccountedShare is the rest of a trial's balances, of what was sent.
func unaccountedShare(t *Trial) (float64, *Warning) {
	balances, why := t.balanced()
	if why != nil {
		return 0, why
	}
	var rest, sent int64
	for i := range balances {
		b := &balances[i]
		if why := t.severalInOne(b.direction(), b); why != nil {
			return 0, why
		}
		if b.Rest < 0 {
			return 0, &Warning{Code: "counts-disagree",
				Text: fmt.Sprintf("the receiver and the counters on the way have %d more datagrams than the %d that were sent", -b.Rest, b.Sent)}
		}
		rest += b.Rest
		sent += b.Sent
	}
	return float64(rest) / float64(sent), nil
}

// lostTo is what the counters of one cause have, of what a stream sent.
func lostTo(cause string) derivation {
	return func(t *Trial) (float64, *Warning) {
		balances, why := t.balanced()
		if why != nil {
			return 0, why
		}
		b := &balances[0]
		if why := t.watched(cause); why != nil {
			return 0, why
		}
		sum := 0.0
		if cause == LossSocket {
			sum = float64(b.SocketDrops)
		}
		for _, d := range b.Drops {
			if d.Cause() == cause {
				sum += float64(d.Packets)
			}
		}
		if why := t.severalInOne(toRemote, b); why != nil && sum > 0 {
			return 0, why
		}
		return share(sum, float64(b.Sent), "datagrams lost on the way", "sent")
	}
}

// balanced is the trial's balances, at least one, or why it has none.
func (t *Trial) balanced() ([]Balance, *Warning) {
	all := t.Balances()
	switch {
	case t.Test.Params.Load != "":
		return nil, &Warning{Code: NotCounted, Text: "the counters on the way have the packets of the stream beside the test, too"}
	case len(all) == 0:
		return nil, &Warning{Code: NotAsked, Text: "the ends did not count the datagrams of the whole trial"}
	case all[0].Sent == 0:
		return nil, &Warning{Code: "nothing-sent", Text: "nothing was sent"}
	}
	return all, nil
}

// severalInOne says why drops are no numbers of datagrams.
func (t *Trial) severalInOne(d direction, b *Balance) *Warning {
	switch {
	case t.fragmented(d):
		return &Warning{Code: "fragments", Advice: "use datagrams that fit into the MTU (--sizes)",
			Text: "datagrams went in fragments, and the counters on the way are of fragments"}
	case t.droppedAtOnce(b):
		return &Warning{Code: "drops-of-many", Advice: "use other methods than gso and gro to see where datagrams go",
			Text: "what was dropped can have had many datagrams in it, and was counted once"}
	}
	return nil
}
