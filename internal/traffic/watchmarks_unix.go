//go:build linux || darwin || freebsd

package traffic

import (
	"cmp"
	"fmt"
	"slices"

	"netdelta/internal/counters/trace"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// maxStep is how far the real clock may have been set while it stamped, in ns.
const maxStep = 20_000

// seen is what was watched, when all is over; nil for nothing.
func (w *watcher) seen() *result.Seen {
	if !w.on {
		return nil
	}
	s := &result.Seen{By: w.by, OneClock: w.cfg.OneMachine, Every: max(w.every, 1), Missing: w.missing, Clock: clockFacts()}
	w.tell()
	s.Lost, s.Missing = w.lost, w.missing
	offset, _ := sys.RealOffset()
	stamped := w.stamper != nil
	if d := offset - w.offset; stamped && (d > maxStep || d < -maxStep) {
		stamped = false
		s.Missing = append(s.Missing, result.Fact{Name: result.SeenByStamps, Value: fmt.Sprintf("the clock was set by %d ns meanwhile", d)})
	}
	for i := range w.room {
		t := &w.room[i]
		trip := result.SeenTrip{N: t.n}
		if w.cfg.Role == result.Local {
			trip.At, trip.Length = t.call, t.back-t.call
		} else {
			trip.At, trip.Length = t.back, t.closed-t.back
			trip.Marks = append(trip.Marks,
				result.Mark{Leg: result.LegRequest, Point: result.PointReturn, CPU: -1},
				result.Mark{Leg: result.LegAnswer, Point: result.PointCall, At: t.call - t.back, CPU: -1})
		}
		if out, in := t.sent[sys.StampHardwareSent], t.got[sys.StampHardwareReceived]; out != 0 && in != 0 {
			if trip.Hardware = max(0, in-out); w.cfg.Role == result.Remote {
				trip.Hardware = max(0, out-in)
			}
		}
		if stamped {
			trip.Marks = append(trip.Marks, stampMarks(t, w.cfg.Role, trip.At+offset)...)
		}
		trip.Marks = append(trip.Marks, t.marks...)
		if trip.Length >= 0 {
			s.Trips = append(s.Trips, trip)
		}
	}
	return s
}

// tell takes what programs have seen so far to the round trips that it is of.
func (w *watcher) tell() {
	if w.tracer == nil {
		return
	}
	events, lost, err := w.tracer.Events()
	if err != nil {
		w.lacks(result.SeenByBPF, err)
		return
	}
	w.lost = lost
	slices.SortStableFunc(events, func(a, b trace.Event) int { return cmp.Compare(a.At, b.At) })
	for i := range w.room {
		t := &w.room[i]
		if t.told {
			continue
		}
		var own []trace.Event
		own, events = between(events, t.opened, t.closed)
		t.told = true
		zero := t.call
		if w.cfg.Role == result.Remote {
			zero = t.back
		}
		for _, m := range eventMarks(own, t.opened, zero) {
			// Two hosts that share a kernel without saying so see each other's messages.
			if !w.cfg.OneMachine && result.EndOf(m.Leg, min(m.Point, result.PointReturn)) != w.cfg.Role {
				continue
			}
			// The next request may come before the gate is shut behind this one's answer.
			if w.cfg.Role == result.Remote && m.Point != result.PointBack && (m.At > 0) == (m.Leg == result.LegRequest) {
				continue
			}
			t.marks = append(t.marks, m)
		}
	}
}

// between are the events of a time, and those after it.
func between(events []trace.Event, from, to int64) (own, rest []trace.Event) {
	by := func(e trace.Event, at int64) int { return cmp.Compare(e.At, at) }
	i, _ := slices.BinarySearchFunc(events, from, by)
	k, _ := slices.BinarySearchFunc(events, to+1, by)
	return events[i:k], events[k:]
}

// stampMarks are the marks of a round trip's timestamps; zero is its beginning by the
// real clock.
func stampMarks(t *sighting, role string, zero int64) (marks []result.Mark) {
	out, in := result.LegRequest, result.LegAnswer
	if role == result.Remote {
		out, in = in, out
	}
	add := func(leg int, p result.Point, at int64) {
		if at != 0 {
			marks = append(marks, result.Mark{Leg: leg, Point: p, At: at - zero, CPU: -1})
		}
	}
	add(out, result.PointQueue, t.sent[sys.StampScheduled])
	add(out, result.PointXmit, t.sent[sys.StampSent])
	add(in, result.PointStack, t.got[sys.StampReceived])
	// An acknowledgement that came with the answer was dealt with where its data was
	// put into the socket.
	if at := t.sent[sys.StampAcknowledged]; role == result.Local && at != 0 && at >= t.got[sys.StampReceived] {
		add(in, result.PointReady, at)
	}
	return marks
}

// maxBacks is how often a thread that was kept from running is told of in a round trip.
const maxBacks = 8

// eventMarks are the marks of a round trip's events, which came after the gate was
// opened; zero is its beginning.
func eventMarks(events []trace.Event, opened, zero int64) (marks []result.Mark) {
	// Of a message in several packets the first that was sent counts, and the last that
	// was received.
	var place [result.Legs][result.PointBack + 1]int // in marks, from 1
	backs := 0
	add := func(e *trace.Event, p result.Point, at int64) *result.Mark {
		if at < opened {
			return &result.Mark{}
		}
		m := result.Mark{Leg: e.Leg, Point: p, At: at - zero, CPU: e.CPU}
		if n := place[e.Leg][p]; n > 0 && p != result.PointBack {
			if p > result.PointXmit {
				marks[n-1] = m
				return &marks[n-1]
			}
			return &result.Mark{}
		}
		if p == result.PointBack {
			if backs++; backs > maxBacks {
				return &result.Mark{}
			}
		}
		marks = append(marks, m)
		place[e.Leg][p] = len(marks)
		return &marks[len(marks)-1]
	}
	var arrived, ready, called [result.Legs]bool
	for i := range events {
		switch e := &events[i]; e.Kind {
		case trace.Queue:
			add(e, result.PointQueue, e.At)
		case trace.Xmit:
			add(e, result.PointXmit, e.At)
		case trace.Arrive:
			arrived[e.Leg] = true
			add(e, result.PointArrive, e.At)
		case trace.Receive:
			if !arrived[e.Leg] {
				add(e, result.PointArrive, e.Due)
			}
			add(e, result.PointHandle, e.Since)
			m := add(e, result.PointStack, e.At)
			m.Task = e.Task
			if e.Context == trace.InSoftirq {
				m.Task = "softirq in " + e.Task
			}
			if e.Since >= opened {
				m.For = e.At - e.Since
			}
		case trace.Ready:
			ready[e.Leg] = true
			add(e, result.PointReady, e.At)
		case trace.Run:
			add(e, result.PointWake, e.Due).CPU = -1
			m := add(e, result.PointRun, e.At)
			m.Task = e.Task
			if e.Earlier == 0 {
				m.Task = "idle"
			}
			if e.Since >= opened {
				m.For = e.At - e.Since
			}
		case trace.Back:
			m := add(e, result.PointBack, e.At)
			m.Task, m.For = e.Task, e.At-e.Due
		case trace.Call:
			called[e.Leg] = true
			add(e, result.PointEnter, e.At)
		case trace.Return:
			// The call that sends returns, too: before there is an answer, or after the
			// request has one.
			if ready[e.Leg] && (e.Leg != result.LegRequest || !called[result.LegAnswer]) {
				add(e, result.PointLeave, e.At)
			}
		}
	}
	return marks
}

// clockFacts are what bears on how this host's clock stands to others.
func clockFacts() []result.Fact {
	kept, estimated, most, err := sys.ClockState()
	switch {
	case err != nil:
		return nil
	case !kept:
		return []result.Fact{{Name: "clock", Value: "not kept by NTP or PTP"}}
	}
	return []result.Fact{{Name: "clock", Value: fmt.Sprintf("kept, off by an estimated %v, at most %v", estimated, most)}}
}
