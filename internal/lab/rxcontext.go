package lab

import (
	"fmt"
	"slices"
	"strings"
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
	Tests:    "icmp_echo,udp_rr,tcp_rr size=1,1KiB,32KiB,1MiB,udp_stream,tcp_stream",
	Beside:   rxBeside(),
	Blocks:   24,
	Window:   60 * time.Millisecond,
	factors:  func(o Options) ([]factor, error) { return []factor{rx(o.Link)}, nil },
	finders:  []findings.Finder{findings.Window, findings.Wake},
}

// rxBeside are the wake tests beside: each way to be woken, on the same CPU and on
// another, idle and loaded; and the first way on CPUs that only never sleep.
func rxBeside() string {
	var tests []string
	for i, by := range spec.WakeMethods() {
		for _, at := range []string{spec.WakeSame, spec.WakeOther} {
			test := fmt.Sprintf("wake by=%s at=%s", by, at)
			tests = append(tests, test, test+" busy="+spec.WakeLoaded)
			if i == 0 {
				tests = append(tests, test+" busy="+spec.WakeAwake)
			}
		}
	}
	return strings.Join(tests, ",")
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
		on:    " on " + link,
		valid: netlab.Contexts(link),
		settings: func(level string) ([]spec.Setting, error) {
			return []spec.Setting{onLink(knobContext, level)}, nil
		},
	}
	if i := slices.IndexFunc(rxDefaults, func(d rxDefault) bool { return d.link == link }); i >= 0 {
		f.usual = rxDefaults[i].levels
	}
	return f
}
