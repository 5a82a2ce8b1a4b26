package trace

import "net/netip"

// Kind is what happened.
type Kind int

// Kinds, as trace.bpf.c has them.
const (
	Queue   Kind = 1 + iota // handed to the queueing discipline
	Xmit                    // handed to the driver
	Arrive                  // put into a CPU's backlog
	Receive                 // given to the protocols
	Ready                   // in the socket
	Run                     // the thread that was woken for it runs
	Call                    // a call that sends came into the kernel
	Return                  // a call left the kernel
	Back                    // the thread runs again, from which its CPU was taken
)

// Context is in what frames are handled.
type Context int

const (
	InTask    Context = iota // in somebody's system call
	InSoftirq                // in NET_RX
	InHandler                // in a thread that handles frames
)

// Event is one thing that happened to a message of the flow. Times are in ns of
// CLOCK_MONOTONIC.
type Event struct {
	At   int64
	Kind Kind
	// Leg is 0 for what belongs to a message from Flow.From to Flow.To, and 1 for the
	// other direction.
	Leg, CPU int
	// Of Receive: in what, since when that was due, and since when it runs; 0 where that
	// is not known. Task is the thread's name.
	Context         Context
	Due, Since      int64
	Task            string
	Thread, Earlier int // threads' numbers: of Run the one that ran before
	// Of Back: Due is since when it did not run, Task what ran instead.
	// Of Run: Due is when the thread was woken, Task what ran on the CPU before it, and
	// Since since when; 0 if longer than the gate is open.
}

// Flow is what is watched.
type Flow struct {
	Protocol int // IPPROTO_
	// From sends requests. Ports are 0 for ICMP.
	From, To netip.AddrPort
}
