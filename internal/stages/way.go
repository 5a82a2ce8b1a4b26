package stages

import (
	"strings"

	"netdelta/internal/result"
)

// place is a point of a leg, in the order of the way.
type place int

const places = place(result.Legs * int(result.Points))

func placeOf(leg int, p result.Point) place { return place(leg*int(result.Points) + int(p)) }

func (p place) leg() int            { return int(p) / int(result.Points) }
func (p place) point() result.Point { return result.Point(int(p) % int(result.Points)) }

// The way's beginning and end, which every round trip has.
const (
	first = place(0)
	last  = places - 1
)

// end is where a place is: result.Local or result.Remote.
func (p place) end() string {
	sends := p.point() <= result.PointXmit
	if sends == (p.leg() == result.LegRequest) {
		return result.Local
	}
	return result.Remote
}

// missing says how a point that a single round trip has not is dealt with.
type missing int

const (
	// unknown: the time around it is not attributed.
	unknown missing = iota
	// asNext: what leads to it goes on until the next one. A frame that its sender's
	// context handles has no handler that would be told.
	asNext
	// asBefore: the next begins where the one before ended. A thread that runs already
	// is not woken.
	asBefore
)

// segment is the time from a point to the next one.
type segment struct {
	from    result.Point
	missing missing // of from
	short   string  // in a name of several
	name    string
	// between is the end of a sentence: "96% between wake-up and running ...".
	between string
	source  string // in the kernel, from where to where
}

// segments is the table of the way, by their beginnings; the last is the turn-around.
var segments = [result.Points]segment{
	{result.PointCall, unknown, "call", "call to kernel", "between the program's clock and its call's arrival in the kernel", "sys_enter"},
	{result.PointEnter, asBefore, "send", "protocol send", "between the system call and the queueing discipline", "__dev_queue_xmit: net_dev_queue"},
	{result.PointQueue, unknown, "qdisc", "qdisc to driver", "between the queueing discipline and the driver", "dev_hard_start_xmit: net_dev_start_xmit"},
	{result.PointXmit, unknown, "wire", "wire", "on the wire, from driver to driver", "the link"},
	{result.PointArrive, asNext, "handler due", "handler due to running", "between the scheduling of the receive handler and its running", "softirq_raise or sched_waking of napi/*, to softirq_entry or sched_switch"},
	{result.PointHandle, asNext, "handler", "handler to stack", "in the receive handler, before the protocols", "napi_poll, net_rx_action: netif_receive_skb"},
	{result.PointStack, unknown, "stack", "stack to socket", "between the receive handler and the socket", "__netif_receive_skb_core to sock_def_readable: sk_data_ready"},
	{result.PointReady, asNext, "signal", "socket to wake-up", "between the socket and the wake-up of its thread", "try_to_wake_up: sched_waking"},
	{result.PointWake, asBefore, "wake-up", "wake-up to running", "between wake-up and running of the receive thread", "__schedule: sched_switch"},
	{result.PointRun, asBefore, "receive", "running to call's end", "between the running of the receive thread and the end of its call", "sys_exit"},
	{result.PointLeave, asNext, "return", "return to program", "between the end of the receive call and the program's clock", "the program"},
	{result.PointReturn, unknown, "turn-around", "turn-around", "in the program, between receiving and sending", "the program"},
}

// nameOf names the stage from one place to another, both of which are known.
func nameOf(from, to place) (name, between string) {
	n := int(to - from)
	switch s := segments[from.point()]; {
	case n == 1:
		return s.name, s.between
	case from.leg() != to.leg():
		return acrossLegs(from, to)
	}
	a, b := segments[from.point()], segments[(to-1).point()]
	joint := " to "
	if n == 2 {
		joint = " and "
	}
	name = a.short + joint + b.short
	return name, "in " + name
}

// acrossLegs names what has the turn-around in it and more.
func acrossLegs(from, to place) (name, between string) {
	switch {
	case from.end() == result.Local && to.end() == result.Local:
		return "far host and wire", "on the wire and in the far host, which are not told apart"
	case from.point() >= result.PointStack && from.point() < result.PointReturn && to.point() <= result.PointXmit && to.point() > result.PointCall:
		return "answer in kernel", "in the far kernel, which answers"
	}
	a, b := segments[from.point()], segments[(to-1).point()]
	name = a.short + " to " + b.short
	return name, "in " + name
}

// where is at which end a stage is: both for what leads from one to the other, and empty
// for that.
func where(from, to place) string {
	if from.end() != to.end() {
		return ""
	}
	if strings.HasPrefix(from.end(), result.Local) && from.leg() != to.leg() {
		return "" // there and back
	}
	return from.end()
}
