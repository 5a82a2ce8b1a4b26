package lab

import (
	"fmt"
	"strings"
	"time"

	"netdelta/internal/findings"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

var mitigation = Experiment{
	Name:     "mitigation",
	Question: "What does waiting for more frames before the handler runs do to latency, interrupts and CPU time?",
	Page:     "mitigation.md",
	Links:    []string{netlab.Ether},
	Context:  "kthread",
	Tests:    "udp_rr rate=2000,udp_stream size=1024 rate=40000,tcp_stream",
	Metrics:  []string{result.RTTP50, result.RTTP99, result.Goodput, result.CPUPerByte, result.CPUSoakPerByte, result.InterruptsPerPacket},
	Blocks:   8,
	Window:   80 * time.Millisecond,
	Soak:     true,
	Bound:    true,
	Brief:    true,
	factors:  func(Options) ([]factor, error) { return []factor{mitigates}, nil },
	finders:  []findings.Finder{findings.Knee},
}

// noMitigation is the level of a wire that hands over each frame as it comes.
const noMitigation = "off"

// mitigates is the factor of frames for each handler run, and of how long the first
// of them may wait for the others. All its levels are by the same delay line.
var mitigates = factor{
	name:  "mitigation",
	about: "frames for each handler run, and how long the first waits for the others",
	usual: []string{noMitigation, "4/50us", "8/100us", "16/200us", "32/400us"},
	forms: []string{noMitigation, "FRAMES/TIME"},
	settings: func(level string) ([]spec.Setting, error) {
		frames, wait := "1", "0us"
		if level != noMitigation {
			var ok bool
			if frames, wait, ok = strings.Cut(level, "/"); !ok {
				return nil, fmt.Errorf("valid are %s, and frames with a time, as in 4/50us", noMitigation)
			}
		}
		return []spec.Setting{onWire("line", "on"), onWire("frames", frames), onWire("wait", wait)}, nil
	},
}
