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
func (p place) end() string { return result.EndOf(p.leg(), p.point()) }

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
	name    string
	// between is the end of a sentence: "96% between wake-up and running ...".
	between string
}

// segments is the table of the way, by their beginnings; the last is the turn-around.
var segments = [result.Points]segment{
	{result.PointCall, unknown, "call", "between the program's clock and its call's arrival in the kernel"},
	{result.PointEnter, asBefore, "send", "between the system call and the queueing discipline"},
	{result.PointQueue, unknown, "qdisc", "between the queueing discipline and the driver"},
	{result.PointXmit, unknown, "wire", "on the wire, from driver to driver"},
	{result.PointArrive, asNext, "handler due", "between the scheduling of the receive handler and its running"},
	{result.PointHandle, asNext, "handler", "in the receive handler, before the protocols"},
	{result.PointStack, unknown, "stack", "between the receive handler and the socket"},
	{result.PointReady, asNext, "signal", "between the socket and the wake-up of its thread"},
	{result.PointWake, asBefore, "wake-up", "between wake-up and running of the receive thread"},
	{result.PointRun, asBefore, "receive", "between the running of the receive thread and the end of its call"},
	{result.PointLeave, asNext, "return", "between the end of the receive call and the program's clock"},
	{result.PointReturn, unknown, "turn-around", "in the program, between receiving and sending"},
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
	name = a.name + joint + b.name
	return name, "in " + name
}

// acrossLegs names what has the turn-around in it and more.
func acrossLegs(from, to place) (name, between string) {
	switch {
	case from.end() == result.Local && to.end() == result.Local:
		return "far host", "on the wire and in the far host, which are not told apart"
	case from.point() >= result.PointStack && from.point() < result.PointReturn && to.point() <= result.PointXmit && to.point() > result.PointCall:
		return "answer in kernel", "in the far kernel, which answers"
	}
	a, b := segments[from.point()], segments[(to-1).point()]
	name = a.name + " to " + b.name
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
