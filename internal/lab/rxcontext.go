package lab

import (
	"slices"
	"time"

	"netdelta/internal/findings"
	"netdelta/internal/netlab"
	"netdelta/internal/spec"
)

// rxFactor is the factor of rx-context: where a received frame is handled.
const rxFactor = "rx"

var rxContext = Experiment{
	Name:     "rx-context",
	Question: "What does the context in which received frames are handled do to ping, round trips and streams?",
	Page:     "rx-context.md",
	Links:    []string{netlab.Ether, netlab.Veth},
	Tests:    "icmp_echo,udp_rr,tcp_rr,udp_stream,tcp_stream",
	Blocks:   24,
	Window:   60 * time.Millisecond,
	factors:  func(link string) []factor { return []factor{rx(link)} },
	finders:  []findings.Finder{findings.Window, findings.Wake},
}

// rxDefaults holds, for each kind of link, the levels that run by default, the
// one that the others are compared with first. Two levels only: what a third one
// takes is worth more as blocks.
var rxDefaults = []rxDefault{
	{netlab.Ether, []string{"softirq", "kthread"}},
	{netlab.Veth, []string{"napi", "napi-threaded"}},
}

type rxDefault struct {
	link   string
	levels []string
}

// rx is the factor of contexts on a kind of link.
func rx(link string) factor {
	f := factor{
		name:  rxFactor,
		about: "where received frames are handled",
		valid: netlab.Contexts(link),
		settings: func(level string) ([]spec.Setting, error) {
			return []spec.Setting{{End: spec.EndBoth, Knob: knobContext, Value: level}}, nil
		},
	}
	if i := slices.IndexFunc(rxDefaults, func(d rxDefault) bool { return d.link == link }); i >= 0 {
		f.usual = rxDefaults[i].levels
	}
	return f
}
