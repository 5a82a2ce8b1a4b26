package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdelta/internal/netlab"
	"netdelta/internal/spec"
)

// rxFactor is the factor of rx-context: where a received frame is handled.
const rxFactor = "rx"

var rxContext = Experiment{
	Name:     "rx-context",
	Question: "What does the context in which received frames are handled do to ping, round trips and streams?",
	Takes:    30 * time.Second,
	plan:     rxContextPlan,
}

// rxDefaults holds, for each kind of link, the levels that run by default and
// the one that the others are compared with. Two levels only: what a third one
// takes is worth more as blocks.
var rxDefaults = []rxDefault{
	{netlab.Ether, "softirq", []string{"softirq", "kthread"}},
	{netlab.Veth, "napi", []string{"napi", "napi-threaded"}},
}

type rxDefault struct {
	link, baseline string
	levels         []string
}

func rxContextPlan(o Options) (spec.Plan, error) {
	i := slices.IndexFunc(rxDefaults, func(d rxDefault) bool { return d.link == o.Link })
	if i < 0 {
		return spec.Plan{}, fmt.Errorf("unknown link %q: valid are %s, %s", o.Link, netlab.Ether, netlab.Veth)
	}
	def := rxDefaults[i]
	if o.Link == netlab.Veth && o.CPUWire != Auto {
		return spec.Plan{}, errNoWire
	}
	levels, baseline := o.Levels, o.Baseline
	if len(levels) == 0 {
		levels = def.levels
	}
	valid := netlab.Contexts(o.Link)
	for _, l := range levels {
		if !slices.Contains(valid, spec.BaseLevel(l)) {
			return spec.Plan{}, fmt.Errorf("unknown level %q of %s on %s: valid are %s (and NAME%s, to compare one with itself)",
				l, rxFactor, o.Link, strings.Join(valid, ", "), spec.Again)
		}
	}
	switch {
	case baseline == "" && slices.Contains(levels, def.baseline):
		baseline = def.baseline
	case baseline == "":
		baseline = levels[0]
	}
	settings := map[string][]spec.Setting{}
	for _, l := range levels {
		settings[l] = []spec.Setting{{End: spec.EndBoth, Knob: knobContext, Value: spec.BaseLevel(l)}}
	}
	return spec.Plan{
		Factors:  []spec.Factor{{Name: rxFactor, Levels: levels, Settings: settings}},
		Baseline: spec.Variant{rxFactor: baseline},
		Tests:    o.Tests,
		Blocks:   o.Blocks,
		Warmup:   o.Warmup,
		Window:   o.Window,
		Seed:     o.Seed,
		Margin:   o.Margin,
	}, nil
}
