package lab

import (
	"fmt"
	"time"

	"netdelta/internal/feature"
	"netdelta/internal/findings"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
)

var tunRx = Experiment{
	Name:     "tun-rx",
	Question: "Is a packet better handed to the stack directly or by way of softirq, by its length?",
	Page:     "tun-rx.md",
	Links:    []string{netlab.Ether},
	Tests:    "udp_rr size=64,256,512,1460,tcp_rr size=64,256,512,1460,udp_stream size=64,256,512,1460,tcp_stream size=64,256,512,1460",
	// Packets and their bytes are details: they say why, and would take power from
	// what is asked.
	Metrics:  []string{result.RTTP50, result.Goodput},
	Blocks:   9,
	Window:   50 * time.Millisecond,
	Bound:    true,
	Classify: true,
	// Round trips vary half as much and less if no CPU sleeps between them; what is
	// lost, figures of CPU time, nobody asked for here.
	Awake: true,
	Brief: true,
	factors: func(o Options) ([]factor, error) {
		f := rx(o.Link)
		// What the driver did before is the baseline.
		f.usual = []string{"backlog", "inline", "softirq"}
		if err := feature.TAPFrags.Err(); err != nil {
			f.missing = []string{fmt.Sprintf("frags: %v", err)}
		} else {
			f.usual = append(f.usual, "frags")
		}
		return []factor{f}, nil
	},
	finders: []findings.Finder{findings.Lengths},
}
