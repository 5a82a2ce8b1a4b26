package lab

import (
	"time"

	"netdelta/internal/spec"
)

// Usual are the options that leave everything to an experiment.
func Usual() Options {
	return Options{Warmup: -1, Margin: 0.02, CPULocal: Auto, CPURemote: Auto, CPUWire: Auto, CPUHandler: Auto}
}

// Varied describes a factor of an experiment for lists.
type Varied struct {
	Name, About string
	// Condition is as spec.Factor has it.
	Condition bool
	// Usual are the levels that run unless others are asked for, the baseline first.
	Usual []string
	// Levels are those that there are, or how they are written.
	Levels []string
	// Free says that Levels are forms, by which any level is made up.
	Free bool
	// Missing are levels that would run too if this system had what they need, each
	// with what that is.
	Missing []string
}

// Varies lists the experiment's factors under options, the main one first.
func (e Experiment) Varies(o Options) ([]Varied, error) {
	o, err := e.placed(o)
	if err != nil {
		return nil, err
	}
	factors, err := e.factors(o)
	if err != nil {
		return nil, err
	}
	var all []Varied
	for _, f := range factors {
		v := Varied{Name: f.name, About: f.about, Condition: f.condition, Usual: f.usual, Levels: f.valid, Free: f.valid == nil, Missing: f.missing}
		if v.Free {
			v.Levels = f.forms
		}
		all = append(all, v)
	}
	return all, nil
}

// Takes is how long a plan takes in a lab, on a machine with nothing else to do. A
// link is made for each slot and closed, and set as the variant has it: 6 to 11 ms
// for a link by itself, veth or ether, and 18 to 50 ms a slot in a run, on two CPUs.
// Loops of idle priority are calibrated for each trial (counters.md), which takes 200
// ms, and longer where something else is busy.
func Takes(p *spec.Plan) time.Duration {
	costs := spec.UsualCosts
	costs.Slot += 30 * time.Millisecond
	if p.Soak {
		costs.Trial += 200 * time.Millisecond
	}
	return p.Takes(costs).Total
}
