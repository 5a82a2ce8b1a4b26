package result

import (
	"fmt"
	"time"

	"netdelta/internal/spec"
)

// Point is where a message is on its way from one program to the other. Points come
// in the order of the way; not every source knows of each.
type Point int

const (
	// PointCall is the sender's clock just before the call that sends.
	PointCall Point = iota
	// PointEnter is the call's arrival in the kernel.
	PointEnter
	// PointQueue is when the message is handed to the queueing discipline.
	PointQueue
	// PointXmit is when it is handed to the driver.
	PointXmit
	// PointArrive is when the far end is told of it: by its interrupt, a softirq
	// that is raised, or a handler's thread that is woken.
	PointArrive
	// PointHandle is when the handler of received frames runs.
	PointHandle
	// PointStack is when the handler gives it to the protocols.
	PointStack
	// PointReady is when its data is in the socket.
	PointReady
	// PointWake is when the thread that waits for it is woken.
	PointWake
	// PointRun is when that thread runs.
	PointRun
	// PointLeave is when the call that receives leaves the kernel.
	PointLeave
	// PointReturn is the receiver's clock just after that call.
	PointReturn
	// PointBack is no point of the way: at it a thread runs again that was kept from
	// running by Mark.Task for Mark.For.
	PointBack
)

// Points is how many points the way has.
const Points = PointBack

// String is the point's name in reports.
func (p Point) String() string {
	names := [...]string{"call", "enter", "queue", "xmit", "arrive", "handle", "stack", "ready", "wake", "run", "leave", "return", "back"}
	if p < 0 || int(p) >= len(names) {
		return "?"
	}
	return names[p]
}

// EndOf is the end at which a point of a leg is: Local or Remote.
func EndOf(leg int, p Point) string {
	if sends := p <= PointXmit; sends == (leg == LegRequest) {
		return Local
	}
	return Remote
}

// The two legs of a round trip.
const (
	LegRequest = iota
	LegAnswer
	Legs
)

// What told where messages were, in Seen.By.
const (
	SeenByBPF    = spec.ExplainBPF
	SeenByStamps = spec.ExplainStamps
	SeenByClock  = spec.ExplainClock
)

// MaxSeen is how many round trips of a window are kept with their marks.
const MaxSeen = 128

// Seen is what one end saw of some of its window's round trips.
type Seen struct {
	// By is what told: SeenByBPF and so on.
	By string `json:"by"`
	// OneClock says that the other end's CLOCK_MONOTONIC is this one's.
	OneClock bool `json:"one_clock,omitempty"`
	// Every is which round trips were watched: those whose number it divides.
	Every int64 `json:"every"`
	// Lost is how many events found no room, or belong to no round trip's time.
	Lost int64 `json:"lost,omitempty"`
	// Missing are sources that were asked for and could not be had, each with the
	// reason, and Clock the facts of this end's clock that bear on one-way times.
	Missing []Fact     `json:"missing,omitempty"`
	Clock   []Fact     `json:"clock,omitempty"`
	Trips   []SeenTrip `json:"trips,omitempty"`
}

// SeenTrip is one round trip as one end saw it.
type SeenTrip struct {
	// N is the round trip's number since the trial's first message, from 1; both ends
	// count alike where nothing is lost.
	N int64 `json:"n"`
	// At is when it began here (the request was to be sent, or had come), and Length
	// how long it took here, in ns of the end's CLOCK_MONOTONIC.
	At     int64 `json:"at_ns"`
	Length int64 `json:"length_ns"`
	// Hardware is the time between the interface's own stamps of what it sent and
	// received, by its own clock: at the local end from the request to the answer, at
	// the remote one from the request to the answer, too. 0 where it makes none.
	Hardware int64 `json:"hardware_ns,omitempty"`
	Marks    Marks `json:"marks"`
}

// Mark is one message at one point: its leg, the point, ns since the round trip
// began here (it may be before that), and the CPU, -1 where that is not known.
type Mark struct {
	Leg   int
	Point Point
	At    int64
	CPU   int
	// Task is what handled the frame (PointStack) or ran on the CPU just before the
	// thread that was woken (PointRun): a thread's name, "softirq", or empty. For is
	// since when before the mark that ran, in ns; 0 if that is not known.
	Task string
	For  int64
}

// validate reports the first thing that no end could have seen.
func (s *Seen) validate() error {
	if s == nil {
		return nil
	}
	switch s.By {
	case SeenByBPF, SeenByStamps, SeenByClock:
	default:
		return fmt.Errorf("round trips seen by %q can't be", shorten(s.By))
	}
	if s.Every < 1 || s.Lost < 0 {
		return fmt.Errorf("one of %d round trips seen with %d events lost can't be", s.Every, s.Lost)
	}
	if len(s.Trips) > MaxSeen {
		return fmt.Errorf("%d round trips seen are more than %d", len(s.Trips), MaxSeen)
	}
	if len(s.Missing)+len(s.Clock) > maxReadings {
		return fmt.Errorf("%d facts of how round trips were seen are more than %d", len(s.Missing)+len(s.Clock), maxReadings)
	}
	for i := range s.Trips {
		if err := s.Trips[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

// maxMarks is how many marks a round trip may have: a large message has some in each of
// its packets.
const maxMarks = 1024

func (t *SeenTrip) validate() error {
	if t.N < 1 || t.Length < 0 || t.Hardware < 0 || t.Length > int64(spec.MaxWindow+time.Minute) {
		return fmt.Errorf("round trip %d of %d ns can't be", t.N, t.Length)
	}
	if len(t.Marks) > maxMarks {
		return fmt.Errorf("round trip %d: %d marks are more than %d", t.N, len(t.Marks), maxMarks)
	}
	for _, m := range t.Marks {
		if m.Leg < 0 || m.Leg >= Legs || m.Point < 0 || m.Point > PointBack || m.CPU < -1 || m.For < 0 {
			return fmt.Errorf("round trip %d: a mark at point %d of leg %d can't be", t.N, m.Point, m.Leg)
		}
	}
	return nil
}
