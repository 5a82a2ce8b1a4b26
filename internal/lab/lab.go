// Package lab has the experiments that need one machine only: two hosts in
// namespaces of their own, a link between them that we made, and an agent for
// each. An experiment is one file and one row of the table.
package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/spec"
)

// Auto as a CPU number lets the lab place a thread; sys.NoCPU leaves it to
// the scheduler.
const Auto = -2

// Options is what a user may set of an experiment. Zero values, and Auto for
// the CPUs, stand for the experiment's defaults.
type Options struct {
	Link string // ether or veth
	// Context is of the receive handlers, where no factor says it; the link's usual
	// one if empty.
	Context string
	// MTU is the link's in bytes, where no factor says it.
	MTU      int
	Levels   []string // of the experiment's factor
	Baseline string   // the level that the others are compared with
	Tests    []spec.Test
	Blocks   int
	Warmup   time.Duration
	Window   time.Duration
	Seed     uint64
	Margin   float64 // 0.02 is 2%
	// CPULocal, CPURemote and CPUWire bind the two ends' traffic threads and
	// the wire's threads.
	CPULocal, CPURemote, CPUWire int
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
}

// Experiment is one row: a question and the plan that answers it.
type Experiment struct {
	Name     string
	Question string
	// Takes is how long the default runs, roughly, for the list.
	Takes time.Duration
	plan  func(Options) (spec.Plan, error)
}

// experiments is the table.
var experiments = []Experiment{rxContext}

// Experiments returns the table of experiments.
func Experiments() []Experiment { return slices.Clone(experiments) }

// Find returns the named experiment, or an error that names the valid ones.
func Find(name string) (Experiment, error) {
	names := make([]string, len(experiments))
	for i, e := range experiments {
		if e.Name == name {
			return e, nil
		}
		names[i] = e.Name
	}
	return Experiment{}, fmt.Errorf("unknown experiment %q: valid are %s", name, strings.Join(names, ", "))
}

// Plan returns the validated plan of the experiment under the options.
func (e Experiment) Plan(o Options) (spec.Plan, error) {
	p, err := e.plan(o)
	if err != nil {
		return spec.Plan{}, err
	}
	p.Experiment, p.Question = e.Name, e.Question
	p.Counters, p.Soak = o.Counters, o.Soak
	if err := p.Validate(); err != nil {
		return spec.Plan{}, err
	}
	return p, nil
}
