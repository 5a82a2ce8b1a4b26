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

var truth = Experiment{
	Name:     "truth",
	Question: "Known delay, loss, duplication, reordering and rate put in by the wire: does the report find them?",
	Page:     "truth.md",
	Links:    []string{netlab.Ether},
	// Requests are asked and answered by threads that nothing of the ordinary class
	// keeps waiting, as the wire's do not. Several flows keep the line full where one
	// would stall now and then, and reno where a congestion control that paces itself
	// would leave it idle to look for its rate.
	Tests:  "udp_rr fifo=2,udp_stream size=1024 rate=5000,tcp_stream flows=4 sndbuf=128KiB congestion=reno",
	Blocks: 12,
	Window: 80 * time.Millisecond,
	// A CPU that sleeps is late to wake, the later the longer it slept: what is
	// added to a delay by that is not the wire's.
	Awake:   true,
	Bound:   true,
	Brief:   true,
	factors: func(Options) ([]factor, error) { return []factor{putIn}, nil },
	finders: []findings.Finder{findings.Truth},
}

// nothing is the level in which the wire passes frames as they are.
const nothing = "none"

// busyRemote is the level in which the wire puts nothing in, and a thread of real-time
// priority takes most of the CPU of the remote end's thread. It shows in tests whose own
// threads are of the ordinary class.
const busyRemote = "busy-remote"

// puts is the table of what can be put in, and what says that nothing is.
var puts = []struct{ name, form, without string }{
	{"delay", "TIME", "0us"},
	{"loss", "SHARE", spec.None},
	{"duplicate", "SHARE", spec.None},
	{"reorder", "SHARE", spec.None},
	{"rate", "BITRATE", spec.None},
}

// putIn is the factor of what the wire puts in. Each level says what all of the
// others are, and all are by the same delay line, so that nothing else differs.
var putIn = factor{
	name:  "put-in",
	about: "what the wire does to the frames of either direction",
	usual: []string{nothing, "delay-10us", "delay-20us", "delay-30us", "delay-40us", "delay-50us",
		"loss-1/100", "duplicate-1/50", "reorder-1/50", "rate-100Mbit/s", "rate-250Mbit/s"},
	forms: putForms(),
	settings: func(level string) ([]spec.Setting, error) {
		what, value, _ := strings.Cut(level, "-")
		i := slices.IndexFunc(puts, func(p struct{ name, form, without string }) bool { return p.name == what })
		busy := level == busyRemote
		if level != nothing && !busy && (i < 0 || value == "") {
			return nil, fmt.Errorf("valid are %s", strings.Join(putForms(), ", "))
		}
		all := []spec.Setting{onWire("line", "on")}
		for j, p := range puts {
			v := p.without
			if level != nothing && j == i {
				v = value
			}
			all = append(all, onWire(p.name, v))
		}
		who := spec.None
		if busy {
			who = spec.EndRemote
		}
		return append(all, onLink(knobBusy, who)), nil
	},
}

func putForms() []string {
	forms := []string{nothing}
	for _, p := range puts {
		forms = append(forms, p.name+"-"+p.form)
	}
	forms = append(forms, busyRemote)
	return forms
}
