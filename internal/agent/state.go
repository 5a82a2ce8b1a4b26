package agent

import (
	"fmt"

	"netdelta/internal/ctl"
)

// state is where a session's trial stands.
type state uint8

const (
	none     state = iota // no state: the event is out of order
	idle                  // no worker
	prepared              // the worker makes or has its sockets
	armed                 // it connects or has connected to its peer
	running               // traffic flows
	draining              // the sender has finished, the rest is read
	states
)

// event is what moves a session from one state to another.
type event uint8

const (
	nothing  event = iota // the step has no second event
	prepare               // a worker is to prepare
	arm                   // it is told its peer
	run                   // it is told to start
	finished              // the local end's window is over, its figures are in
	drain                 // the remote end is told that the sender has finished
	drained               // the remote end's figures are in
	abort                 // by the client, the session's end or the trial's deadline
	fail                  // a step went wrong
	set                   // settings of the host are to hold
	unset                 // and to be what they were
	events
)

// transitions is the whole machine. Whatever ends a trial, good or bad, leads
// to idle, and there is no worker in idle.
var transitions = [states][events]state{
	idle:     {prepare: prepared, abort: idle, fail: idle, set: idle, unset: idle},
	prepared: {arm: armed, abort: idle, fail: idle},
	armed:    {run: running, abort: idle, fail: idle},
	running:  {finished: idle, drain: draining, abort: idle, fail: idle},
	draining: {drained: idle, abort: idle, fail: idle},
}

var stateNames = [states]string{"none", "idle", "prepared", "armed", "running", "draining"}

var eventNames = [events]string{"nothing", "prepare", "arm", "run", "finished", "drain", "drained", "abort", "fail", "set", "unset"}

func (s state) String() string { return stateNames[s] }

func (e event) String() string { return eventNames[e] }

// next is the state to which the event leads, or ErrState.
func next(s state, e event) (state, error) {
	if to := transitions[s][e]; to != none {
		return to, nil
	}
	return s, fmt.Errorf("%w: %v does not follow %v", ctl.ErrState, e, s)
}
