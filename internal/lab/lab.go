// Package lab has the experiments that need one machine only: two hosts in
// namespaces of their own, a link between them that we made, and an agent for
// each. An experiment is one file and one row of the table.
package lab

import (
	"time"

	"netdelta/internal/spec"
)

// Auto as a CPU number lets the lab place a thread; sys.NoCPU leaves it to
// the scheduler.
const Auto = -2

// Options is what a user may set of an experiment. Zero values, Auto for the CPUs
// and a Warmup below 0 stand for the experiment's defaults.
type Options struct {
	Link string // ether or veth
	// Context is of the receive handlers, where no factor says it; the link's usual
	// one if empty.
	Context string
	// MTU is the link's in bytes, where no factor says it.
	MTU int
	// Wire is what ether's wire does to frames, where no factor says it.
	Wire spec.Wire
	// Levels and Baseline are those of the experiment's factors, by name; "" stands
	// for the first one.
	Levels   map[string][]string
	Baseline map[string]string
	// Second is the second factor of an experiment that has a choice of them.
	Second string
	Tests  []spec.Test
	// Sizes are for those of the experiment's tests that name none.
	Sizes  []int
	Beside []spec.Test
	// Each is as spec.Plan has it.
	Each int
	// Explain is as spec.Plan has it.
	Explain string
	Blocks  int
	Warmup  time.Duration
	Window  time.Duration
	Seed    uint64
	Margin  float64 // 0.02 is 2%
	// CPULocal, CPURemote and CPUWire bind the two ends' traffic threads and
	// the wire's threads.
	CPULocal, CPURemote, CPUWire int
	// CPUHandler binds the kernel threads that handle received frames, and is where
	// a backlog's frames are steered to.
	CPUHandler int
	// CPUsLocal and CPUsRemote are those of further traffic threads.
	CPUsLocal, CPUsRemote []int
	// Counters and Soak are as spec.Plan has them.
	Counters []string
	Soak     bool
	// IPv6 has the traffic go by IPv6 rather than IPv4.
	IPv6 bool
	// Offload passes checksums and segmentation to the link: a virtio-net
	// header on ether, the devices' own offloads on veth.
	Offload bool
	// Classify has the packets of the tests' sockets looked at by control group, at
	// both hosts.
	Classify bool
	// Awake has loops of idle priority keep all CPUs from sleeping. Figures of CPU
	// time are not to be had then.
	Awake bool

	bound bool // as Experiment has it
}
