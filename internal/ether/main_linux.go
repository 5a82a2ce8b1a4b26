package ether

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// The descriptors at which the wire process finds its TAPs.
const (
	tapA = sys.ControlFD + 1
	tapB = sys.ControlFD + 2
)

// Main is the wire process: it carries frames between the TAPs at
// descriptors 4 and 5 until the control socket at descriptor 3 closes. args
// are those after the role. It returns the exit status; Start is its only
// caller, by way of a new process.
//
// Nothing here may need the collector or stop the world: the threads that
// carry frames never come to a safe point. So the collector is off, and the
// loop over the control socket allocates nothing.
func Main(args []string) int {
	s, err := parseSettings(args)
	if err != nil {
		return fail(err)
	}
	var warnings []string
	// The lanes have their memory before any is locked: a limit that what is there
	// keeps to is a warning at most, but what goes beyond it later is refused.
	ab, ba := newLane(tapA, tapB, s), newLane(tapB, tapA, s)
	if err := sys.LockMemory(); err != nil {
		warnings = append(warnings, err.Error())
	}
	for _, l := range [...]*lane{ab, ba} {
		if l.pipe.probe(); !l.pipe.try {
			warnings = append(warnings, "wire "+l.name+": no batch sizes: reads without waiting need Linux 5.9")
		}
		if err := l.start(s.cpu, func(err error) { os.Exit(fail(err)) }); err != nil {
			return fail(err)
		}
		if l.late != nil {
			warnings = append(warnings, "wire "+l.name+": its times are kept only as far as its thread gets a CPU: "+l.late.Error())
		}
	}
	if _, err := unix.Write(sys.ControlFD, textMessage(msgReady, strings.Join(warnings, "\n"))); err != nil {
		return 1
	}
	return serve(ab, ba)
}

// fail tells the parent why the wire ends.
func fail(err error) int {
	unix.Write(sys.ControlFD, textMessage(msgFailed, err.Error())) // the parent may be gone
	return 1
}

// serve answers the parent until it is gone.
func serve(ab, ba *lane) int {
	in := make([]byte, 64)
	out := make([]byte, 0, 1+statsSize)
	for {
		n, err := unix.Read(sys.ControlFD, in)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || n == 0:
			return 0
		case n != 1 || in[0] != askStats:
			return fail(fmt.Errorf("control message of %d bytes is not understood", n))
		}
		s := Stats{AToB: ab.snapshot(), BToA: ba.snapshot()}
		out = s.append(append(out[:0], msgStats))
		if _, err := unix.Write(sys.ControlFD, out); err != nil {
			return 0
		}
	}
}

// lane is one direction with its threads and what they count.
type lane struct {
	name  string
	pipe  *pipe
	line  *line   // what the pipe's frames wait in, nil for a plain wire
	write *writer // the second thread's work, if there is one
	read  *tally
	wrote *tally // the second thread's counts
	// sleeps are the reading thread's.
	sleeps *sleepCounter
	// late is why the line's threads have to wait for a CPU like any other.
	late error
}

func newLane(from, to int, s settings) *lane {
	f := s.framer()
	l := &lane{read: &tally{}, wrote: &tally{}}
	out := outlet{fd: to, header: f.header, bounded: s.bounded, count: l.read}
	if s.frags {
		out.pieces = sys.NewPieces()
	}
	l.pipe = &pipe{from: from, frame: f, try: true, count: l.read}
	var hand *handoff
	if s.handoff {
		hand = newHandoff(f, l.read)
		out.count = l.wrote
		l.write = &writer{ring: hand.ring, to: out}
		l.pipe.next = hand
	} else {
		l.pipe.next = newDirect(out, f)
	}
	seed := uint64(seedAToB)
	l.name = "direction A to B"
	if from == tapB {
		l.name, seed = "direction B to A", seedBToA
	}
	if !s.wire.Plain() {
		l.line = newLine(s.wire, seed, l.pipe, &out, hand)
	}
	return l
}

// The priorities of a line's threads under SCHED_FIFO: nothing that software does
// keeps a real line waiting. The reading thread of one with a delay may never sleep
// while frames come, so the second thread goes before it: on the same CPU it would
// not run otherwise.
const (
	linePriority   = 1
	writerPriority = 2
)

// start starts the lane's threads on a CPU and returns when they have it.
// failed is told, on a lane's thread, what ended it.
func (l *lane) start(cpu int, failed func(error)) error {
	if l.write != nil {
		urgent := func() error {
			if l.line != nil {
				l.late = sys.SetFIFO(writerPriority)
			} else {
				sys.NameThread(sys.ThreadHandler)
			}
			return nil
		}
		if err := onThread(cpu, urgent, l.write.run); err != nil {
			return err
		}
	}
	run := l.pipe.run
	if l.line != nil {
		run = l.line.run
	}
	return onThread(cpu, func() (err error) {
		if l.sleeps, err = countSleeps(); err == nil && l.line != nil {
			if l.late == nil { // one without the other would starve it
				l.late = sys.SetFIFO(linePriority)
			}
			err = sys.PreciseTimers()
		}
		return err
	}, func() {
		failed(fmt.Errorf("wire %s: %w", l.name, run()))
	})
}

// onThread runs f on a thread of its own that has its CPU, and returns when
// prepare has run there.
func onThread(cpu int, prepare func() error, f func()) error {
	ready := make(chan error, 1)
	go func() {
		sys.NameThread(sys.ThreadWire)
		err := sys.PinThread(cpu)
		if err == nil {
			err = prepare()
		}
		ready <- err
		if err == nil {
			f()
		}
	}()
	return <-ready
}

// snapshot reads the second thread's counts first: what left before what
// entered.
func (l *lane) snapshot() Direction {
	var d Direction
	l.wrote.addTo(&d)
	l.read.addTo(&d)
	d[Wakeups] = l.sleeps.count()
	if l.line == nil || l.line.bare() {
		d[Runs] = d[Wakeups]
	}
	return d
}
