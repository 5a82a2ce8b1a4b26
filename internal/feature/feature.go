// Package feature says what this kernel and this user can do. A probe tries
// the thing itself, in namespaces of its own that vanish with the try, and
// keeps the answer for the life of the process.
package feature

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrUnavailable is what every probe's error is (errors.Is).
var ErrUnavailable = errors.New("not available on this system")

// Error says why something cannot be done here and what would change that.
type Error struct {
	Feature string // the probe's name
	Tried   string // what was tried, and on what
	Need    string // the kernel version, privilege or device that is missing
	Advice  string // what to do; empty where nothing can be done
	Kernel  string // the running kernel, "Linux 6.1.0-13-amd64"
	Err     error  // how the try ended
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no %s: tried to %s on %s", e.Feature, e.Tried, e.Kernel)
	if e.Err != nil {
		// Joined errors come with line breaks; this is one line.
		fmt.Fprintf(&b, ": %s", strings.ReplaceAll(e.Err.Error(), "\n", ", "))
	}
	fmt.Fprintf(&b, "; needs %s", e.Need)
	if e.Advice != "" {
		fmt.Fprintf(&b, "; %s", e.Advice)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Is makes every Error ErrUnavailable.
func (e *Error) Is(target error) bool { return target == ErrUnavailable }

// Probe is one thing that can be done or not.
type Probe struct {
	// Name is what it is, as in "no Name".
	Name string
	// For is what it is used for.
	For string

	err func() error
}

// Err is nil if the thing can be done, else an *Error. The first call tries,
// later ones repeat the answer.
func (p Probe) Err() error { return p.err() }

// row makes a probe of a try, which leaves the Error's Feature and Kernel out.
func row(name, use string, try func() *Error) Probe {
	return Probe{name, use, sync.OnceValue(func() error {
		e := try()
		if e == nil {
			return nil
		}
		e.Feature, e.Kernel = name, Kernel().String()
		return e
	})}
}

// The probes. Each depends on the user as well as on the kernel: in a user
// namespace (sys.ReexecInUserNS) the answers are those for its root.
var (
	NetNS  = row("network namespaces", "the hosts of a lab", tryNetNS)
	UserNS = row("user namespaces", "a lab without root", tryUserNS)
	Veth   = row("veth pairs", "the lab's veth link", tryVeth)
	TAP    = row("TAP devices", "the lab's ether link", tryTAP)
	// TAPNAPI and what follows it are kinds of TAP, so each needs TAP too.
	TAPNAPI         = row("NAPI on TAP devices", "ether's softirq and kthread contexts", tryTAPNAPI)
	TAPFrags        = row("page fragments on TAP devices", "ether's frags context", tryTAPFrags)
	Steering        = row("packet steering", "ether's backlog context", trySteering)
	VNetHdr         = row("virtio-net headers on TAP devices", "ether's checksum and segmentation offload", tryVNetHdr)
	ThreadedNAPI    = row("threaded NAPI", "ether's kthread and veth's napi-threaded context", tryThreadedNAPI)
	SocketGroup     = row("packets by control group of their socket", "the check that packets are classified in every context", trySocketGroup)
	ICMP            = row("ICMP sockets", "icmp_echo", tryICMP)
	MemoryLock      = row("locked memory", "workers without page faults", tryMemoryLock)
	UDPSegment      = row("UDP segmentation", "udp_stream's send method gso", tryUDPSegment)
	UDPGRO          = row("UDP receive offload", "udp_stream's receive method gro", tryUDPGRO)
	URing           = row("io_uring", "streams' methods uring", tryURing)
	URingSendZC     = row("io_uring send without copying", "streams' send method uring-zc", tryURingSendZC)
	ZeroCopySend    = row("SO_ZEROCOPY", "send methods zerocopy and uring-zc", tryZeroCopySend)
	ZeroCopyReceive = row("TCP_ZEROCOPY_RECEIVE", "receive method zerocopy", tryZeroCopyReceive)
)

// All is the table of probes, in the order in which they build on each other.
var All = []Probe{NetNS, UserNS, Veth, TAP, TAPNAPI, TAPFrags, Steering, VNetHdr, ThreadedNAPI, SocketGroup, ICMP, MemoryLock, UDPSegment, UDPGRO, URing, URingSendZC, ZeroCopySend, ZeroCopyReceive}
